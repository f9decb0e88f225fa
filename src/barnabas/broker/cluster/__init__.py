"""How this broker belongs to a cluster: membership, the controller's office, images, lines to the others."""
