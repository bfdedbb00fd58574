"""The files of an output folder: manifest, figures, pictures, pages, drivers, and what writes them
(`output_folder`).
"""
