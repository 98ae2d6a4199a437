// Sharpens an image of one byte for each pixel; pixels outside of it are as the nearest inside.
static int pixel(global const uchar *image, int x, int y, int width, int height) {
  return image[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

kernel void sharpen(global const uchar *source, global uchar *result, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;  // Kiln may pad the range
  const int around = pixel(source, x - 1, y, width, height) + pixel(source, x + 1, y, width, height)
                   + pixel(source, x, y - 1, width, height) + pixel(source, x, y + 1, width, height);
  result[y * width + x] = convert_uchar_sat(5 * pixel(source, x, y, width, height) - around);
}
