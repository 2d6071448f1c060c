import type { FirewallRule, SecurityGroup, DesiredSecurityGroup } from "../plan/model";
import type { TumblebugApi } from "./api";
import type { Dialect } from "./dialect";
import { ReplyLost, TumblebugRefusal } from "./errors";
import type { Looking } from "./make-once";
import { Resources } from "./resource-kind";
import type { SecurityGroups } from "./tumblebug";

const ATTEMPTS = 3;

/** Calls for security groups, whose rules can change while VMs use them. */
export class SecurityGroupCalls
  extends Resources<DesiredSecurityGroup, SecurityGroup>
  implements SecurityGroups
{
  constructor(
    private readonly server: TumblebugApi,
    private readonly words: Dialect,
    looking: Looking,
  ) {
    super(server, words.securityGroups, words.saysNotFound, looking);
  }

  addRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup> {
    return this.change("POST", namespace, id, (found) =>
      rules.filter((rule) => !found.some((other) => isSame(rule, other))),
    );
  }

  removeRules(namespace: string, id: string, rules: readonly FirewallRule[]): Promise<SecurityGroup> {
    return this.change("DELETE", namespace, id, (found) =>
      rules.filter((rule) => found.some((other) => isSame(rule, other))),
    );
  }

  /**
   * Adds or removes rules. Reads the group before the request, and again after a lost response, because the server
   * refuses rules that are already added or removed.
   */
  private async change(
    method: "POST" | "DELETE",
    namespace: string,
    id: string,
    left: (found: readonly FirewallRule[]) => readonly FirewallRule[],
  ): Promise<SecurityGroup> {
    const path = `/ns/${namespace}/resources/securityGroup/${encodeURIComponent(id)}/rules`;
    for (let attempt = 1; ; attempt++) {
      const found = await this.read(namespace, id);
      if (found === undefined)
        throw new TumblebugRefusal(`${method} ${path}`, 404, `there is no security group ${id}`, "NotFound");
      const rules = left(found.rules);
      if (rules.length === 0) return found;
      if (attempt > ATTEMPTS)
        throw new ReplyLost(`${method} ${path}`, `after ${ATTEMPTS} attempts rules are still missing`);
      try {
        const body = this.words.rulesRequest(rules);
        await this.server.call({ method, path, body, isRepeatable: false });
      } catch (error) {
        if (!(error instanceof ReplyLost)) throw error;
      }
    }
  }
}

function isSame(one: FirewallRule, other: FirewallRule): boolean {
  const key = ({ direction, protocol, ports, cidr }: FirewallRule) =>
    [direction, protocol, protocol === "icmp" ? "" : (ports ?? []).join("-"), cidr].join(" ");
  return key(one) === key(other);
}
