import type { NewObject } from "../../lib/kubernetes";

const API_VERSION = "test.foresail.dev/v1";

/** The definition of a kind of our own, with a status that a controller would write. */
export const WIDGETS: NewObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.foresail.dev" },
  spec: {
    group: "test.foresail.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer" },
                  color: { type: "string", default: "gray" },
                  tags: { type: "array", items: { type: "string" } },
                },
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
};

/** A Widget in the namespace "default". */
export function widget(name: string, spec: object = { size: 3 }, metadata: object = {}): NewObject {
  return {
    apiVersion: API_VERSION,
    kind: "Widget",
    metadata: { name, namespace: "default", ...metadata },
    spec,
  };
}
