"""Reports about a build: figures, manifest, pictures, pages, test bench, and the output folder that holds them."""
