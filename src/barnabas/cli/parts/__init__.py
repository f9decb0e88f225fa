"""What is too long for one file: each module is a part of the one tool that it is named after."""
