import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../../../sandbox/toolchain/cache";
import { publishedChecksum } from "../../../../sandbox/toolchain/checksum";
import { toolchainEnvironment } from "../../../../sandbox/toolchain/environment";
import { parseImageTags } from "../../../../sandbox/toolchain/image-tags";
import { kubernetesRelease } from "../../../../sandbox/toolchain/kubernetes-programs";
import { isDebian, packageAdvice } from "../../../../sandbox/toolchain/packages";
import { PULUMI_VERSION, pulumiPrograms } from "../../../../sandbox/toolchain/pulumi-programs";
import { sourceUrl } from "../../../../sandbox/toolchain/source-hosts";

const sum = "ab".repeat(32);

describe("published checksums", () => {
  for (const [what, text] of [
    ["the sum alone", `${sum}\n`],
    ["the sum with its file", `${sum}  tool.tar.gz\n`],
    ["a list", `${"0".repeat(64)}  other\n${sum}  tool.tar.gz\n`],
    ["a list with paths and binary marks", `${"0".repeat(64)} *./other\n${sum} *./tool.tar.gz\n`],
    ["capitals", sum.toUpperCase()],
  ] as const) {
    it(`are read from ${what}`, () => assert.equal(publishedChecksum(text, "tool.tar.gz"), sum));
  }
  it("are never guessed", () => {
    for (const text of ["", "<html>not here</html>", `${sum}  other`, `${sum}\n${"0".repeat(64)}`]) {
      assert.throws(() => publishedChecksum(text, "tool.tar.gz"), /do not name tool\.tar\.gz/);
    }
  });
});

describe("decisions of the toolchain", () => {
  it("requests the same host and path from a mirror, and nothing when downloads are off", () => {
    const url = "https://get.pulumi.com/releases/a.txt";
    assert.equal(sourceUrl(url, {}), url);
    const mirror = { FORESAIL_DOWNLOADS: "http://127.0.0.1:8/m/" };
    assert.equal(sourceUrl(url, mirror), "http://127.0.0.1:8/m/get.pulumi.com/releases/a.txt");
    assert.equal(sourceUrl(url, { FORESAIL_DOWNLOADS: "off" }), undefined);
  });

  it("reads the image tags that kubeadm names", () => {
    const list = [
      "registry.k8s.io/kube-proxy:v1.36.3",
      "registry.k8s.io/coredns/coredns:v1.14.2",
      "registry.k8s.io/pause:3.10.2",
      "registry.k8s.io/etcd:3.6.8-0",
      "",
    ].join("\n");
    assert.deepEqual(parseImageTags(list), { etcd: "3.6.8-0", pause: "3.10.2", coredns: "v1.14.2" });
    assert.throws(() => parseImageTags("registry.k8s.io/pause:3.10"), /does not name etcd/);
  });

  it("refuses a Kubernetes version that is not pinned, and names those that are", () => {
    assert.throws(() => kubernetesRelease("1.20.0"), /1\.20\.0 is not among .* 1\.36\.3, 1\.35\.4/);
  });

  it("stamps the version into what it builds", () => {
    const [build] = kubernetesRelease("1.35.4").builds;
    assert.match(build?.ldflags ?? "", /gitVersion=v1\.35\.4 .*gitMajor=1 .*gitMinor=35$/);
  });

  it("uses the versions that the npm packages require", () => {
    const file = path.join(projectFolder, "package.json");
    const { devDependencies } = JSON.parse(readFileSync(file, "utf8")) as {
      devDependencies: Record<string, string>;
    };
    assert.equal(PULUMI_VERSION, devDependencies["@pulumi/pulumi"]);
    for (const name of ["kubernetes", "command", "openstack"] as const) {
      assert.equal(pulumiPrograms[`plugin-${name}`].version, devDependencies[`@pulumi/${name}`]);
    }
  });

  it("keeps the user's Pulumi settings out of the sandbox", () => {
    const base = {
      PATH: "/bin",
      PULUMI_ACCESS_TOKEN: "secret",
      PULUMI_HOME: "/home/me/.pulumi",
      EDITOR: "vi",
    };
    const environment = toolchainEnvironment("/cache", "/cache/programs/pulumi", base);
    assert.equal(environment["PATH"], "/cache/programs/pulumi:/bin");
    assert.equal(environment["PULUMI_HOME"], "/cache/pulumi-home");
    assert.equal(environment["PULUMI_ACCESS_TOKEN"], undefined);
    assert.equal(environment["EDITOR"], "vi");
  });

  it("recognizes Debian and its derivatives", () => {
    assert.ok(isDebian('ID=debian\nVERSION_ID="12"\n'));
    assert.ok(isDebian("ID=ubuntu\nID_LIKE=debian\n"));
    assert.ok(isDebian('ID=pop\nID_LIKE="ubuntu debian"\n'));
    assert.ok(!isDebian('ID=fedora\nNAME="not debian"\n'));
    assert.ok(!isDebian(""));
  });

  it("names the command that installs what is missing", () => {
    assert.match(packageAdvice(["podman", "runc"], true), /sudo apt-get install .* podman runc$/);
    assert.match(packageAdvice(["podman"], false), /podman; install them with this system's package manager/);
  });
});
