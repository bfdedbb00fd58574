"""What a build tells about itself: manifest, pictures, pages, the output folder."""
