import { CONTROL_PLANE_GROUP } from "../cluster/machine";
import { AGENT_VERSION_PATTERN } from "../rollout/annotations";
import { below, duplicateIssues, issueAt } from "../../../../lib/validation/validation-issue";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { dnsNameFault } from "../../../../lib/validation/names";
import { nearest } from "../../../../lib/validation/spelling";
import { listed, quoted } from "../../../../lib/text/quote";

const PLACEHOLDER = "[software]";

/** Returns what is wrong with the pattern of the annotation keys, or undefined. */
export function annotationPatternIssue(pattern: string): string | undefined {
  const parts = pattern.split(PLACEHOLDER);
  if (parts.length !== 2)
    return `${quoted(pattern)} must hold ${PLACEHOLDER} once; write e.g. "alpha.${PLACEHOLDER}.caos.ch"`;
  const fault = dnsNameFault(parts.join("os-packages"));
  return fault && `with a software's name in the place of ${PLACEHOLDER} it ${fault}`;
}

/** Returns what is wrong with the number of nodes that may be away at once, or undefined. */
export function maxUnavailableIssue(value: number | string): string | undefined {
  return countIssue(value, "nodes", 1);
}

/** Returns what is wrong with the number of unreachable machines that a run may leave out, or undefined. */
export function unreachableIssue(value: number | string): string | undefined {
  return countIssue(value, "machines", 0);
}

/** Returns what is wrong with a number or percentage of these, or undefined. */
function countIssue(value: number | string, what: string, least: number): string | undefined {
  const fix = `write a number of ${what} from ${least}, or a percentage from "${least}%" to "100%"`;
  if (typeof value === "number")
    return Number.isInteger(value) && value >= least ? undefined : `is ${value}; ${fix}`;
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  return percent !== undefined && Number(percent) >= least && Number(percent) <= 100
    ? undefined
    : `is ${quoted(value)}; ${fix}`;
}

/** Returns what is wrong with the version of further software, or undefined, by the same rules as the node agent. */
export function softwareVersionIssue(text: string): string | undefined {
  return text.length <= 63 && new RegExp(AGENT_VERSION_PATTERN).test(text) && !text.startsWith("v")
    ? undefined
    : `${quoted(text)} is not a version; write at most 63 letters, digits, dots, dashes, plus signs, colons and tildes, with a letter other than "v" or a digit first`;
}

/** Names of present or future Nodes. */
interface NodeNames {
  has(name: string): boolean;
  /** For messages: the names, or their pattern. */
  known: string[];
}

/** Returns a `NodeNames` of exactly these names. */
export function nodeNames(names: readonly string[]): NodeNames {
  const all = new Set(names);
  return { has: (name) => all.has(name), known: [...all] };
}

/**
 * Returns names that also cover the slots that a pool may have kept when it became smaller: only the state knows them, and
 * `pausedRefusals` checks them in each run.
 *
 * @param slotOf the slot in a machine's name: "w-3"
 */
export function nodesOfPools(
  names: NodeNames,
  pools: readonly string[],
  slotOf: (name: string) => string | undefined,
): NodeNames {
  const has = (name: string) => {
    const [, pool = ""] = /^(.+)-[1-9]\d*$/.exec(slotOf(name) ?? "") ?? [];
    return names.has(name) || pools.includes(pool);
  };
  return { ...names, has };
}

/**
 * Returns the refusals of paused machines that a run does not have.
 *
 * @param slots what the run has
 */
export function pausedRefusals(
  pausedNodes: readonly string[],
  slots: readonly string[],
  slotOf: (name: string) => string,
): { property: string; reason: string }[] {
  return pausedNodes.flatMap((name, index) =>
    slots.includes(slotOf(name))
      ? []
      : [
          {
            property: `cluster.rollout.pausedNodes[${index}]`,
            reason: unknownName("machine", name, [...slots]),
          },
        ],
  );
}

/** Input of the rollout's rules; values that could not be read are absent. */
interface RolloutFacts {
  pools?: Readonly<Record<string, { maxUnavailable?: unknown } | undefined>>;
  pausedNodes?: readonly string[];
}

/** Returns an issue for each unknown pool or node, and for a maximum of control planes, which roll one at a time. */
export function rolloutIssues(
  { pools = {}, pausedNodes = [] }: RolloutFacts = {},
  groups: readonly string[],
  nodes: NodeNames,
): ValidationIssue[] {
  const known = [...new Set([CONTROL_PLANE_GROUP, ...groups])];
  return [
    ...Object.keys(pools).flatMap((name) =>
      issueAt(["pools", name], known.includes(name) ? undefined : unknownName("pool", name, known)),
    ),
    ...issueAt(
      ["pools", CONTROL_PLANE_GROUP, "maxUnavailable"],
      pools[CONTROL_PLANE_GROUP]?.maxUnavailable === undefined
        ? undefined
        : "can't be set: control planes change one at a time; remove it",
    ),
    ...pausedNodes.flatMap((name, index) =>
      issueAt(
        ["pausedNodes", index],
        nodes.has(name) ? undefined : unknownName("machine", name, nodes.known),
      ),
    ),
    ...below(["pausedNodes"], duplicateIssues(pausedNodes, String)),
  ];
}

/** Returns what is wrong with a name that none of these is. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  if (close !== undefined)
    return `${quoted(name)} is not a ${what} of this cluster; did you mean ${quoted(close)}?`;
  const fix = known.length > 0 ? `there are ${listed(known)}` : "remove it";
  return `${quoted(name)} is not a ${what} of this cluster; ${fix}`;
}
