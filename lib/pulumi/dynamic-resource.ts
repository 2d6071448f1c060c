import * as pulumi from "@pulumi/pulumi";

/** "<room>/<Type>", as in providers/handlers.ts; never renamed or removed within a major version, since state holds it. */
export type HandlerKey = `${string}/${string}`;

/**
 * The provider that state holds for a resource: one constant line. So destroy and refresh run the code that
 * is installed now, and no secret or client can be captured (docs/adr/0002-one-line-providers.md).
 */
export function providerText(key: HandlerKey): string {
  return `exports.handler=()=>require("foresail/handlers").handlers[${JSON.stringify(key)}]`;
}

/** A resource that foresail's own handlers serve, in Pulumi's dynamic-provider process. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param key the handlers in providers/handlers.ts, "<folder>/<Type>"
   * @param outputs names of properties that only the handlers know
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
