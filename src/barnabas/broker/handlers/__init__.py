"""One file per API, named after it; its `handle` turns a request into a reply."""
