import * as pulumi from "@pulumi/pulumi";

/**
 * "<folder>/<Type>", as in providers/handlers.ts. Never renamed or removed within a major version, because state
 * contains it.
 */
export type HandlerKey = `${string}/${string}`;

/**
 * Returns the provider text that state stores for a resource: one constant line. Destroy and refresh therefore run the
 * installed code, and no secret or client is captured (docs/adr/0002-one-line-providers.md).
 */
export function providerText(key: HandlerKey): string {
  return `exports.handler=()=>require("foresail/handlers").handlers[${JSON.stringify(key)}]`;
}

/** A resource whose handlers are foresail's own and run in Pulumi's dynamic-provider process. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param key the handlers in providers/handlers.ts, "<folder>/<Type>"
   * @param outputs names of the properties that the handlers set
   */
  protected constructor(
    key: HandlerKey,
    name: string,
    inputs: pulumi.Inputs,
    outputs: string[],
    opts?: pulumi.CustomResourceOptions,
  ) {
    const type = key.slice(key.indexOf("/") + 1);
    const unknown = Object.fromEntries(outputs.map((output) => [output, undefined]));
    super(
      `pulumi-nodejs:dynamic/foresail:${type}`,
      name,
      { ...unknown, ...inputs, __provider: providerText(key) },
      opts,
    );
  }
}
