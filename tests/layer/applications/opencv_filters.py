# SPDX-License-Identifier: Apache-2.0
"""Nine first calls of OpenCV's filters on the device; prints a checksum of each result, but of those
that differ from run to run."""

import zlib

import cv2
import numpy as np

FILTERS = {
    "Sobel": lambda image: cv2.Sobel(image, cv2.CV_8U, 1, 0),
    "blur": lambda image: cv2.blur(image, (5, 5)),
    "filter2D": lambda image: cv2.filter2D(image, -1, np.ones((3, 3), np.float32) / 9),
    "median": lambda image: cv2.medianBlur(image, 3),
    "resize": lambda image: cv2.resize(image, (100, 80)),
    "Canny": lambda image: cv2.Canny(image, 50, 150),
    "Gaussian": lambda image: cv2.GaussianBlur(image, (5, 5), 1.5),
    "threshold": lambda image: cv2.threshold(image, 100, 255, cv2.THRESH_BINARY)[1],
    "erode": lambda image: cv2.erode(image, np.ones((3, 3), np.uint8)),
}

# Its last kernel passes edges on between work-groups that run at once.
UNSTEADY = ("Canny",)


def main():
    cv2.ocl.setUseOpenCL(True)
    if not cv2.ocl.useOpenCL():
        raise SystemExit("OpenCV uses no OpenCL here")
    rows, columns = np.mgrid[0:200, 0:256]
    image = cv2.UMat(((rows * 7 + columns * 5 + rows * columns) % 256).astype(np.uint8))
    for name, function in FILTERS.items():
        result = function(image).get()
        print(name, result.shape if name in UNSTEADY else zlib.crc32(result.tobytes()))


if __name__ == "__main__":
    main()
