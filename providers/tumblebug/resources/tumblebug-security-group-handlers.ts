import type { FirewallRule, SecurityGroup, DesiredSecurityGroup } from "../plan/model";
import { ruleChanges, ruleWords } from "../plan/security-rules";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { objectHandlers } from "./object-handlers";
import type { TumblebugSecurityGroupInputs as Inputs } from "./tumblebug-security-group";

const bare = ({ direction, protocol, ports, cidr }: FirewallRule): FirewallRule => ({
  direction,
  protocol,
  ...(ports ? { ports } : {}),
  cidr,
});

export const handlers: Handlers = objectHandlers<Inputs, DesiredSecurityGroup, SecurityGroup>({
  what: "securityGroup",
  reason: "CreateSecurityGroupFailedReason",
  of: ({ securityGroups }) => securityGroups,
  wish: ({ name, connection, vNet, rules }, description) => ({
    name,
    connection,
    vNet,
    rules: rules.map(bare),
    description,
  }),
  describe: ({ rules }) => rules.map(ruleWords).join("; "),
  outputs: ({ rules }) => ({ there: rules.map(bare), gone: [] }),
  drift: ({ there = [] }, { rules }) => ({ there, gone: ruleChanges(rules, there).opened }),
  hasDrifted: ({ gone = [] }) => gone.length > 0,
  mismatch: ({ connection }, found) =>
    found.connection === connection ? undefined : `belongs to the connection ${found.connection}`,
  fixed: [],
  changes(olds, news) {
    const { opened, closed } = ruleChanges(olds.rules, news.rules);
    const isGone = (rule: FirewallRule) => ruleChanges(news.gone ?? [], [rule]).opened.length === 0;
    const again = news.rules.filter((rule) => isGone(rule) && !opened.includes(rule));
    const { name } = news;
    const steps = (kind: "open" | "reopen" | "close", rules: readonly Inputs["rules"][number][]) =>
      rules.map((rule) => ({ kind, name, rule: ruleWords(rule) }));
    return [...steps("reopen", again), ...steps("open", opened), ...steps("close", closed)];
  },
  async change({ securityGroups }, { namespace, name, rules }, before, found) {
    // Compares with the server's current rules, to continue an interrupted run; rules of others are kept.
    const opened = ruleChanges(found.rules, rules).opened.map(bare);
    const { closed } = ruleChanges(before.rules, rules);
    const present = closed.filter((rule) => ruleChanges(found.rules, [rule]).opened.length === 0).map(bare);
    if (opened.length > 0) await securityGroups.addRules(namespace, found.name, opened);
    if (present.length > 0) await securityGroups.removeRules(namespace, found.name, present);
    report(`securityGroup ${name}`, `${opened.length} rules opened, ${present.length} closed`);
  },
});
