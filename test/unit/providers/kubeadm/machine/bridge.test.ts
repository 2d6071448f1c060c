import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { ShellMachine } from "./run-shell";

/** A fake iptables, which keeps its rules in a file: the check of a rule that is not there fails. */
const iptables = (file: string) => `rule="$*"
case $rule in
*--check*) grep -qxF -- "\${rule/--check/RULE}" ${file} ;;
*--insert*) echo "\${rule/--insert/RULE}" >>${file} ;;
*--append*) echo "\${rule/--append/RULE}" >>${file} ;;
esac`;

/** A fake nft with chains of several owners, of which one's rules are in a file. */
const nft = (file: string, chain: string) => `case "$*" in
"list chains") cat <<'CHAINS'
table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
	}
	chain forward {
		type filter hook forward priority filter; policy drop;
	}
	chain ours {
	}
}
table ip filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
	}
}
table ip kube-proxy {
	chain filter-forward {
		type filter hook forward priority filter; policy accept;
	}
}
table bridge filter {
	chain forward {
		type filter hook forward priority 0; policy drop;
	}
}
CHAINS
;;
"list chain inet filter forward") cat ${file} ;;
"insert rule inet filter forward "*) ${chain} ;;
*) exit 9 ;;
esac`;

describe("the built-in network of a node", () => {
  let host: ShellMachine;
  const rules = (kind: string) =>
    existsSync(host.path(`/${kind}`))
      ? readFileSync(host.path(`/${kind}`), "utf8")
          .trim()
          .split("\n")
      : [];
  const ACCEPTED = ["--source", "--destination"].map(
    (end) =>
      `--wait --table filter RULE FORWARD ${end} 10.244.0.0/16 --jump ACCEPT --match comment --comment foresail`,
  );

  beforeEach(() => {
    host = new ShellMachine();
    for (const kind of ["iptables", "iptables-legacy", "iptables-nft"]) {
      host.program(kind, iptables(host.path(`/${kind}`)));
      host.program(`${kind}-save`, "true");
      host.write(`/${kind}`, "");
    }
    for (const program of ["systemctl", "sysctl"]) host.program(program, "true");
    host.program("ip", 'if [ "$1" = -oneline ]; then echo "2: eth0 inet 10.0.0.4/24 scope global eth0"; fi');
    host.program("kubectl", "printf 10.244.3.0/24");
    host.program("cat", 'if [[ ${1-} == /sys/* ]]; then echo 1500; else exec /bin/cat "$@"; fi');
    host.write("/etc/cni/net.d/README", "");
  });

  /** Runs the program until it has looked at its rules this often; before each further look, the commands run. */
  function run(looks: number, between = "true") {
    host.write("/looks", "");
    host.program(
      "sleep",
      `echo >>${host.path("/looks")}; ${between}; [ $(wc -l <${host.path("/looks")}) -lt ${looks} ]`,
    );
    const parameters = { MACHINE: "w-1", ADDRESS: "10.0.0.4", POD_CIDR: "10.244.0.0/16" };
    const written = host.run({ "common/bridge": "all" }, parameters, "configure_bridge");
    assert.equal(written.status, 0, written.stderr);
    const program = readFileSync(host.path("/usr/local/lib/foresail/bridge"), "utf8");
    const env = { ...process.env, PATH: `${host.path("programs")}:${process.env["PATH"]}` };
    const ran = spawnSync("bash", ["-c", program, "bridge", "w-1", "10.0.0.4", "10.244.0.0/16"], {
      encoding: "utf8",
      env,
    });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stderr;
  }

  it("accepts forwarded packets of pods, once", () => {
    run(3);
    assert.deepEqual(
      rules("iptables").filter((rule) => rule.includes("FORWARD")),
      ACCEPTED,
    );
    assert.equal(rules("iptables").length, 3);
    assert.deepEqual([...rules("iptables-legacy"), ...rules("iptables-nft")], ["", ""]);
  });

  it("does so in the tables of the other kind if others have filled them", () => {
    host.program("iptables-legacy-save", "echo '*filter'");
    run(1);
    assert.deepEqual(rules("iptables-legacy").filter(Boolean), ACCEPTED);
  });

  it("accepts them, once, in chains that others have made with nftables, and in no other chain", () => {
    host.write("/nft", "ct state established accept\n");
    host.program("nft", nft(host.path("/nft"), `echo "\${*:6}" >>${host.path("/nft")}`));
    run(3);
    assert.deepEqual(rules("nft"), [
      "ct state established accept",
      'ip saddr 10.244.0.0/16 accept comment "foresail"',
      'ip daddr 10.244.0.0/16 accept comment "foresail"',
    ]);
  });

  it("says once that such a chain takes no rules, and goes on", () => {
    host.write("/nft", "");
    host.program("nft", nft(host.path("/nft"), "exit 1"));
    const words = run(3);
    assert.equal(
      words.match(/take no rules: inet filter forward; if they drop packets of 10\.244/g)?.length,
      1,
    );
    assert.ok(existsSync(host.path("/etc/cni/net.d/10-foresail.conflist")));
  });

  it("restores its rules after a reload of the firewall", () => {
    run(3, `: >${host.path("/iptables")}`);
    assert.deepEqual(
      rules("iptables").filter((rule) => rule.includes("FORWARD")),
      [],
    );
    run(4, `[ $(wc -l <${host.path("/looks")}) != 2 ] || : >${host.path("/iptables")}`);
    assert.deepEqual(
      rules("iptables").filter((rule) => rule.includes("FORWARD")),
      ACCEPTED,
    );
  });
});
