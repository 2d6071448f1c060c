import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import type { KubernetesClient, NewObject } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";

const CRD = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
const ESTABLISHED_SECONDS = 60;

interface Definition extends NewObject {
  spec: { group: string; names: { kind: string }; versions: { name: string; served: boolean }[] };
}

/** Returns the objects of YAML files, in order. */
export async function readObjects(files: readonly string[]): Promise<NewObject[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.flatMap((text) =>
    parseAllDocuments(text)
      .map((document) => document.toJS() as NewObject | null)
      .filter((object) => object !== null),
  );
}

/** Installs definitions of kinds by server-side apply, and waits until the API serves them. */
export async function installDefinitions(
  kubernetes: KubernetesClient,
  definitions: readonly NewObject[],
): Promise<void> {
  await Promise.all(
    definitions.map((definition) => kubernetes.apply({ ...definition, ...CRD }, { force: true })),
  );
  await Promise.all(
    (definitions as Definition[]).map(({ spec: { group, names, versions } }) => {
      const version = versions.find(({ served }) => served)?.name ?? "";
      return waitFor<void>({
        what: `the kind ${names.kind} to be served`,
        seconds: ESTABLISHED_SECONDS,
        firstPauseMilliseconds: 50,
        probe: async () => {
          const isServed = await kubernetes.paths.serves(`${group}/${version}`, names.kind);
          return isServed ? { done: undefined } : { pending: "not served yet" };
        },
      });
    }),
  );
}
