"""The measurements behind the estimates of ``tabla explore``: designs are drawn, synthesised and fitted."""
