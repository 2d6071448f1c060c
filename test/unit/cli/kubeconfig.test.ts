import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { parse } from "yaml";
import { ttlSeconds, withCredentials } from "../../../cli/commands/kubeconfig";
import { newKeyAndRequest } from "../../../lib/certificate-request";

const openssl = (args: string[], input: string) =>
  execFileSync("openssl", args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });

describe("a request for a certificate", () => {
  it("is one that openssl verifies, with the user, the groups and the new key", () => {
    const long = "g".repeat(200);
    const { key, request } = newKeyAndRequest({
      user: "foresail:änne",
      groups: ["kubeadm:cluster-admins", long],
    });
    const subject = openssl(
      ["req", "-verify", "-noout", "-subject", "-nameopt", "utf8,sep_comma_plus"],
      request,
    );
    assert.equal(subject.trim(), `subject=O=kubeadm:cluster-admins,O=${long},CN=foresail:änne`);
    const publicKey = openssl(["pkey", "-pubout"], key);
    assert.equal(openssl(["req", "-noout", "-pubkey"], request), publicKey);
    assert.notEqual(newKeyAndRequest({ user: "a", groups: [] }).key, key);
  });
});

describe("a kubeconfig with a certificate of its own", () => {
  it("keeps clusters and contexts, and has no credentials but the new ones", () => {
    const before = `apiVersion: v1
clusters: [{name: c, cluster: {server: "https://192.0.2.1:6443", certificate-authority-data: QQ==}}]
contexts: [{name: one, context: {cluster: c, user: admin}}, {name: two, context: {cluster: c, user: admin}}]
current-context: two
users: [{name: admin, user: {client-key-data: OLD}}]
`;
    const text = withCredentials(before, "ann", "CERT", "KEY");
    assert.ok(!text.includes("OLD"));
    const { contexts, users, clusters, ...others } = parse(text) as Record<string, unknown>;
    assert.deepEqual(others, { apiVersion: "v1", "current-context": "two" });
    assert.deepEqual(contexts, [
      { name: "one", context: { cluster: "c", user: "ann" } },
      { name: "two", context: { cluster: "c", user: "ann" } },
    ]);
    assert.deepEqual((clusters as object[]).length, 1);
    assert.deepEqual(users, [
      { name: "ann", user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" } },
    ]);
  });

  it("is valid for 10 minutes to 30 days", () => {
    assert.deepEqual(["1h", "10m", "720h", "1h30m"].map(ttlSeconds), [3600, 600, 2_592_000, 5400]);
    for (const ttl of ["9m59s", "721h", "1d", "", "-1h", "soon"])
      assert.throws(() => ttlSeconds(ttl), /--ttl/, ttl);
  });
});
