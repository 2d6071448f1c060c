import { run } from "../nodes/command";
import { fleetNames, projectHash } from "../nodes/names";
import { projectFolder } from "../nodes/paths";
import type { MachineAddresses } from "./machines";

/** The chains of this machine's kernel tables that call the two chains. */
const CALLS = [
  ["PREROUTING", "in"],
  ["OUTPUT", "in"],
  ["POSTROUTING", "out"],
] as const;

/**
 * The one-to-one address translation that a cloud does between a VM and the Internet: the public address is on none of
 * the VM's devices. Here this machine's kernel does it, for itself and among the VMs; it needs root and iptables.
 */
export class AddressTranslation {
  private readonly chains: Readonly<Record<"in" | "out", string>>;

  /** @param system of the VMs' container nodes */
  constructor(system: string) {
    const { seed } = fleetNames(projectHash(projectFolder), system);
    this.chains = { in: `FORESAIL-${seed}-IN`, out: `FORESAIL-${seed}-OUT` };
  }

  /** Translates these addresses and no others. */
  async set(addresses: readonly MachineAddresses[]): Promise<void> {
    const calls = CALLS.map(
      ([from, direction]) =>
        `iptables --wait --table nat --check ${from} --jump ${this.chains[direction]} 2>/dev/null || ` +
        `iptables --wait --table nat --insert ${from} --jump ${this.chains[direction]}`,
    );
    await run("sh", [
      "-ec",
      [`iptables-restore --wait --noflush <<'END'`, this.rules(addresses), "END", ...calls].join("\n"),
    ]);
  }

  /** Ends all translation and removes its rules from the kernel. */
  async end(): Promise<void> {
    const { in: incoming, out: outgoing } = this.chains;
    const calls = CALLS.map(
      ([from, direction]) =>
        `while iptables --wait --table nat --delete ${from} --jump ${this.chains[direction]} 2>/dev/null; do :; done`,
    );
    const chains = [incoming, outgoing].map(
      (chain) =>
        `if iptables --wait --table nat --flush ${chain} 2>/dev/null; then iptables --wait --table nat --delete-chain ${chain}; fi`,
    );
    await run("sh", ["-ec", [...calls, ...chains].join("\n")]);
  }

  private rules(addresses: readonly MachineAddresses[]): string {
    const { in: incoming, out: outgoing } = this.chains;
    return [
      "*nat",
      `:${incoming} - [0:0]`,
      `:${outgoing} - [0:0]`,
      ...addresses.flatMap(({ publicAddress, privateAddress }) => [
        `-A ${incoming} -d ${publicAddress}/32 -j DNAT --to-destination ${privateAddress}`,
        // a VM that is called at its public address sees the caller's public address
        `-A ${outgoing} -s ${privateAddress}/32 -m conntrack --ctstate DNAT -j SNAT --to-source ${publicAddress}`,
      ]),
      "COMMIT",
    ].join("\n");
  }
}
