import { CONTROL_PLANE_GROUP } from "../machine";
import { dnsNameMistake } from "./names";
import type { Mistake } from "./mistake";
import { nearest } from "./spelling";

const PLACEHOLDER = "[software]";

/** What is wrong with the pattern of the annotation keys, or undefined. */
export function annotationPatternMistake(pattern: string): string | undefined {
  const parts = pattern.split(PLACEHOLDER);
  if (parts.length !== 2)
    return `"${pattern}" must hold ${PLACEHOLDER} once; write e.g. "alpha.${PLACEHOLDER}.caos.ch"`;
  const mistake = dnsNameMistake(parts.join("os-packages"));
  return (
    mistake && `with a software's name in the place of ${PLACEHOLDER} it ${mistake.replace(/^"[^"]*" /, "")}`
  );
}

/** What is wrong with the number of nodes that may be away at once, or undefined. */
export function maxUnavailableMistake(value: number | string): string | undefined {
  const mend = 'write a number of nodes from 1, or a percentage from "1%" to "100%"';
  if (typeof value === "number")
    return Number.isInteger(value) && value >= 1 ? undefined : `is ${value}; ${mend}`;
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  return percent !== undefined && Number(percent) >= 1 && Number(percent) <= 100
    ? undefined
    : `is "${value}"; ${mend}`;
}

/** What is wrong with the version of a further software, or undefined. */
export function softwareVersionMistake(text: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9.+~:_-]{0,62}$/.test(text)
    ? undefined
    : `"${text}" is not a version; write letters, digits, dots and dashes, as the package manager has them`;
}

/** Pools and nodes that a rollout names must be there; the control planes go one at a time whatever is said. */
export function rolloutMistakes(
  rollout: { pools: Record<string, { maxUnavailable?: unknown }>; pausedNodes: readonly string[] },
  machines: readonly { name?: string | undefined; pool: string }[],
): Mistake[] {
  const pools = [...new Set([CONTROL_PLANE_GROUP, ...machines.map(({ pool }) => pool)])];
  const names = machines.flatMap(({ name }) => name ?? []);
  const missing = (what: string, name: string, known: string[]) => {
    const close = nearest(name, known);
    return `"${name}" is not a ${what} of this cluster${close ? `; did you mean "${close}"?` : `; there are ${known.join(", ")}`}`;
  };
  return [
    ...Object.entries(rollout.pools).flatMap(([name, pool]): Mistake[] => {
      if (!pools.includes(name)) return [{ path: ["pools", name], message: missing("pool", name, pools) }];
      return name === CONTROL_PLANE_GROUP && pool.maxUnavailable !== undefined
        ? [
            {
              path: ["pools", name, "maxUnavailable"],
              message: "can't be set: control planes change one at a time; remove it",
            },
          ]
        : [];
    }),
    ...rollout.pausedNodes.flatMap((name, index): Mistake[] =>
      names.includes(name)
        ? []
        : [{ path: ["pausedNodes", index], message: missing("machine", name, names) }],
    ),
  ];
}
