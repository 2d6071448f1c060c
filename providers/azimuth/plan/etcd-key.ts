/** Length of the key in bytes, as kube-apiserver requires it for each of its providers. */
export const KEY_BYTES = 32;

/** The state of the Secret's `key`: correct, encoded twice, or not a key. */
type KeyState =
  | { state: "usable" }
  | { state: "encoded twice"; /** for the Secret's `data` */ data: string }
  | { state: "unusable"; bytes: number };

/**
 * Checks the key of the Secret <cluster>-etcd-key. The chart copies `data.key` into the API server's
 * EncryptionConfiguration, so it must decode to the 32 bytes of the key. Earlier releases of foresail encoded it twice:
 * 44 bytes, which no API server accepts, with the same key inside.
 *
 * @param data `data.key` as the API returns it: base64
 */
export function judgeKey(data: string | undefined): KeyState {
  const bytes = Buffer.from(data ?? "", "base64");
  if (bytes.length === KEY_BYTES) return { state: "usable" };
  const inner = bytes.toString("latin1");
  const decoded = Buffer.from(inner, "base64");
  const isEncodedTwice = decoded.length === KEY_BYTES && decoded.toString("base64") === inner;
  return isEncodedTwice
    ? { state: "encoded twice", data: inner }
    : { state: "unusable", bytes: bytes.length };
}
