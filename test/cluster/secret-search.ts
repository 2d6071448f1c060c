import type { TestCluster } from "./test-cluster";

/** A text that must contain no secret, and its source. */
interface Searched {
  readonly where: string;
  readonly text: string;
}

const PATTERNS: readonly [string, RegExp][] = [
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ["a certificate", /-----BEGIN CERTIFICATE-----/],
  ["PEM in base64", /LS0tLS1CRUdJTi[A-Za-z0-9+/]{20}/],
  // kubeadm's form; names of Events look alike, but end in hexadecimal digits
  ["a bootstrap token", /\b[a-z0-9]{6}\.(?=[0-9a-f]*[g-z])[a-z0-9]{16}\b/],
  ["a service account's token", /\beyJhbGciOi[\w-]+\.[\w-]+/],
];

/** The cluster's own secrets, in pieces that are found again however the text around them is broken. */
export async function clusterSecrets(
  cluster: TestCluster,
  controlPlane: string,
): Promise<ReadonlyMap<string, string>> {
  const found = await cluster.onMachine(
    controlPlane,
    `cd /etc/kubernetes
for key in pki/*.key pki/etcd/*.key; do echo "$key $(sed -n 2p $key)"; done
echo "encryption $(sed -n 's/^ *secret: //p' foresail/encryption.yaml)"
sed -n 's/^ *client-key-data: /admin.conf /p' admin.conf | cut -c 1-200`,
  );
  return new Map(
    found
      .trim()
      .split("\n")
      .map((line): [string, string] => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
  );
}

/**
 * Searches texts for anything that looks like a secret, and for known ones.
 * @param known secrets by their names
 * @returns where something was found and what; never the secret itself
 */
export function findSecrets(texts: readonly Searched[], known: ReadonlyMap<string, string>): string[] {
  return texts.flatMap(({ where, text }) => [
    ...PATTERNS.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${where}: ${what}`),
    ...[...known].filter(([, secret]) => text.includes(secret)).map(([name]) => `${where}: ${name}`),
  ]);
}
