import assert from "node:assert/strict";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

interface Row {
  etcd: string;
  coredns: string;
  pause: string;
}
interface Script {
  componentsIn: (source: string, version: string) => Row;
  withRows: (text: string, added: readonly (readonly [string, Row])[]) => string;
}
// eslint-disable-next-line @typescript-eslint/no-require-imports -- a script, which has no types
const { componentsIn, withRows } = require(
  path.join(projectFolder, "scripts", "kubernetes-components.cjs"),
) as Script;

describe("the table of the versions of components", () => {
  const source = (map: string) => `const (
\tDefaultEtcdVersion = "3.6.8-0"
\tCoreDNSVersion = "v1.14.2"
\tPauseVersion = "3.10.2"
)
var (
\tSupportedEtcdVersion = map[uint8]string{
${map}
\t}
)`;

  it("is read from kubeadm's sources in each form of its map, where what is not mapped is the default", () => {
    const etcd = (map: string) => componentsIn(source(map), "1.36.3").etcd;
    assert.equal(etcd('\t\t35: "3.5.1-0",\n\t\t36: "3.6.1-0",'), "3.6.1-0");
    assert.equal(
      etcd(
        '\t\tuint8(getSkewedKubernetesVersion(-1).Minor()): "3.5.1-0",\n\t\tuint8(getSkewedKubernetesVersion(0).Minor()):  "3.6.2-0",',
      ),
      "3.6.2-0",
    );
    assert.equal(etcd('\t\t35: "3.5.1-0",'), "3.6.8-0");
    assert.throws(() => componentsIn("", "1.36.3"), /constants.go of 1.36.3 has no/);
  });

  it("keeps its rows and is sorted by version", () => {
    const row = { etcd: "1", coredns: "2", pause: "3" };
    const text = 'export const T = {\n  "1.9.1": { etcd: "a", coredns: "b", pause: "c" },\n};\n';
    assert.equal(
      withRows(text, [["1.10.0", row] as const, ["1.9.0", row] as const]),
      'export const T = {\n  "1.9.0": { etcd: "1", coredns: "2", pause: "3" },\n  "1.9.1": { etcd: "a", coredns: "b", pause: "c" },\n  "1.10.0": { etcd: "1", coredns: "2", pause: "3" },\n};\n',
    );
    assert.equal(
      withRows("= {\n};\n", [["1.9.0", row] as const]),
      '= {\n  "1.9.0": { etcd: "1", coredns: "2", pause: "3" },\n};\n',
    );
  });
});
