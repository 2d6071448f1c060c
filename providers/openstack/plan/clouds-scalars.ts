/** Plain scalars that YAML 1.1, which openstacksdk and Pulumi's OpenStack provider read, takes for no text. */
const OF_YAML_1_1: readonly RegExp[] = [
  /^(yes|no|on|off)$/i,
  /^[-+]?0b[01_]+$/i,
  /^[-+]?[0-9][0-9_]*_[0-9_]*$/,
  /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/,
];

/**
 * Returns whether a scalar without quotes is the same text for every program: 0123 is 83 for openstacksdk, and "0123" for
 * Pulumi's OpenStack provider.
 *
 * @param value what YAML 1.2 reads
 * @param source what is written
 */
export function isReadAlike(value: unknown, source: string): boolean {
  if (typeof value === "boolean") return false;
  if (typeof value === "number" && String(value) !== source) return false;
  return !OF_YAML_1_1.some((shape) => shape.test(source));
}
