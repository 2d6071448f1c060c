import { quoted } from "../../../../lib/text/quote";
import { urlIssue } from "../../../../lib/validation/urls";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import type { Fleet, Wave } from "../fleet";
import { type ExportedFile, INSTALL, refuseNames, writtenBy } from "./exported";

/** What the operator runs, and with what. */
export interface OperatorSource {
  /** Where it fetches the project from: an https address, or git@HOST:PATH. */
  readonly repository: string;
  /** The commit that every stack is brought to: 40 hexadecimal digits. */
  readonly commit: string;
  /** An image with Node.js and Pulumi; it also builds the project. */
  readonly image: string;
  /** The Secret with which the repository is read; default: none. */
  readonly gitSecret?: string;
}

/** Kubernetes accepts no longer name of a StatefulSet's Pods; the operator appends `-workspace`. */
const LONGEST_NAME = 42;
const SHARE = "/share";

/**
 * Builds the project after the operator has fetched it. The operator then runs `pulumi install`, whose `npm install` removes
 * the build's link node_modules/foresail; the one in the folder above stays.
 */
const BUILD = {
  name: "build",
  workingDir: `${SHARE}/workspace`,
  command: [
    "sh",
    "-c",
    `${INSTALL} && mkdir -p ${SHARE}/node_modules && ln -sfn "$(pwd -P)" ${SHARE}/node_modules/foresail`,
  ],
  volumeMounts: [{ name: "share", mountPath: SHARE }],
  // what the operator gives its own containers
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
};

/** Returns what is wrong with the options of the export, with their names; nothing is left to be expanded by Kubernetes. */
export function operatorSourceIssues({ repository, commit, image, gitSecret }: OperatorSource): string[] {
  const isHttps =
    urlIssue(repository, ["https"]) === undefined && /^https:[A-Za-z0-9._~:/-]+$/.test(repository);
  const isSsh = /^git@[A-Za-z0-9.-]+:[A-Za-z0-9._~/-]+$/.test(repository);
  const checks: [boolean, string][] = [
    [
      isHttps || isSsh,
      "--repository has to be an address that the operator reads without a question, such as https://git.example.com/ops/foresail.git or git@git.example.com:ops/foresail.git",
    ],
    [
      /^[0-9a-f]{40}$/.test(commit),
      "--commit has to be a whole commit of 40 digits, as `git rev-parse HEAD` prints it",
    ],
    [
      /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/.test(image),
      "--image has to be the name of an image, such as pulumi/pulumi:3.230.0-nonroot",
    ],
    [
      gitSecret === undefined || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(gitSecret),
      "--git-secret has to be the name of a Secret",
    ],
  ];
  return checks.flatMap(([isRight, message]) => (isRight ? [] : [message]));
}

/** Returns what a fleet has that Stack objects can't say. */
export function operatorIssues({ waves, onFailure }: Fleet): ValidationIssue[] {
  const instead = "remove it, name a fleet without it with --file, or export to github or gitlab";
  return [
    ...issueAt(
      ["onFailure"],
      onFailure === "continue" ? `the operator begins no wave after a failure; ${instead}` : undefined,
    ),
    ...issueAt(
      ["windows"],
      waves.some(({ windows }) => windows !== undefined)
        ? `the operator knows no time, and would begin these stacks outside of their windows; ${instead}`
        : undefined,
    ),
    ...waves.flatMap(({ name, stacks, gate, window }, index) => [
      ...stacks.flatMap((stack) => issueAt(["waves", index], nameIssue(stack))),
      ...issueAt(
        ["waves", index, "gate"],
        gate &&
          `the operator checks no gate, and would begin the wave after ${quoted(name)} without it; ${instead}`,
      ),
      ...issueAt(
        ["waves", index, "window"],
        window &&
          `the operator knows no time, and would begin ${quoted(name)} outside of its window; ${instead}`,
      ),
    ]),
  ];
}

const nameIssue = (stack: string) =>
  stack.length <= LONGEST_NAME && /^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(stack)
    ? undefined
    : `${quoted(stack)} can't be the name of an object of the operator: only lower case letters, digits and "-" can, at most ${LONGEST_NAME}, with a letter first; rename the stack`;

/**
 * Returns the fleet as Stack objects of the Pulumi Kubernetes Operator. A stack waits for all stacks of the wave before, and
 * for that of its own wave whose place it takes, so that no more than `maxParallel` run at once.
 *
 * The order of the objects matters when they are applied: a prerequisite counts only for the commit that its object names.
 *
 * @param fleet without {@link operatorIssues}
 * @param source without {@link operatorSourceIssues}
 */
export function operatorStacks(fleet: Fleet, source: OperatorSource): ExportedFile {
  refuseNames(fleet);
  const { waves, maxParallel } = fleet;
  const prerequisitesOf = ({ stacks }: Wave, index: number, place: number) => [
    ...(waves[index - 1]?.stacks ?? []),
    ...(place < maxParallel ? [] : [stacks[place - maxParallel]!]),
  ];
  return {
    name: "foresail.stacks.yaml",
    comment: `Brings the stacks to a commit in waves. Apply it as one file, in its order.\n${writtenBy("operator")}`,
    documents: waves.flatMap((wave, index) =>
      wave.stacks.map((stack, place) =>
        stackObject(stack, wave.name, source, prerequisitesOf(wave, index, place)),
      ),
    ),
  };
}

function stackObject(
  stack: string,
  wave: string,
  { repository, commit, image, gitSecret }: OperatorSource,
  prerequisites: readonly string[],
): object {
  return {
    apiVersion: "pulumi.com/v1",
    kind: "Stack",
    metadata: { name: stack, labels: { "foresail/wave": wave } },
    spec: {
      stack,
      projectRepo: repository,
      // with a branch, a stack could begin before the others have seen the new commit
      commit,
      ...(gitSecret !== undefined && { gitAuthSecret: gitSecret }),
      // a stack that does not exist is an error, and no new cluster
      useLocalStackOnly: true,
      prerequisites: prerequisites.map((name) => ({ name })),
      workspaceTemplate: {
        spec: {
          image,
          envFrom: [{ secretRef: { name: `foresail-${stack}` } }],
          // the schema asks for the operator's own container, too
          podTemplate: { spec: { initContainers: [{ ...BUILD, image }], containers: [{ name: "pulumi" }] } },
        },
      },
    },
  };
}
