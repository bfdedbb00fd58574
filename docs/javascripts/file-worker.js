// The search of the theme runs in a Worker, which browsers refuse to pages that are opened from files. For such pages this
// class stands in: it runs the script of the worker in a hidden frame and hands the messages to and fro.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((other) => this.load(other)));
      this.ready = this.load(url);
    }

    load(url) {
      const page = this.frame.contentDocument;
      return new Promise((loaded, failed) => {
        const script = page.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = loaded;
        script.onerror = failed;
        page.head.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
