const digits =
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** RFC 32: each 4 bytes, big-endian, are 5 digits of base 85. `bytes` is a multiple of 4 long. */
export function z85(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const value = bytes.readUInt32BE(at);
    for (let weight = 85 ** 4; weight >= 1; weight /= 85)
      text += digits.charAt(Math.floor(value / weight) % 85);
  }
  return text;
}
