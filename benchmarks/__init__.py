"""Measurements of kernelbraid against plain ports: ``make bench`` on a CPU, ``make bench-gpu`` on a GPU."""
