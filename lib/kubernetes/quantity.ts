const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  ...Object.fromEntries(["k", "M", "G", "T", "P", "E"].map((unit, index) => [unit, 1000 ** (index + 1)])),
  ...Object.fromEntries(
    ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit, index) => [unit, 1024 ** (index + 1)]),
  ),
};

const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/;

/**
 * Returns the value of a quantity of Kubernetes, such as "1.5Gi", "500m" or "1e3"; undefined for a text that is none
 * (k8s.io/apimachinery, pkg/api/resource).
 */
export function parseQuantity(text: string): number | undefined {
  const [, digits, exponent = "", unit = ""] = QUANTITY.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits + exponent) * SUFFIXES[unit]!;
}
