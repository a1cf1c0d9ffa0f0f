"""An import as written -> the file that it means, one module for each module system."""
