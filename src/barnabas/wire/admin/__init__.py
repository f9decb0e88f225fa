"""Administration, one module per noun. Every function takes a `Cluster` first, raises `ApiError` when the
broker refuses the whole of what was asked, and returns what the broker said of each item otherwise."""
