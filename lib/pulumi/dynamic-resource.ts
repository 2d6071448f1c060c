import * as pulumi from "@pulumi/pulumi";
import { withKubeconfigInputs } from "./kubeconfig-input";
import { linkPackage } from "./package-link";
import { OWN_TYPES } from "./state";

/**
 * "<folder>/<Type>", as in providers/handlers.ts. Never renamed or removed within a major version, because state
 * contains it.
 */
export type AnyHandlerKey = `${string}/${string}`;

/**
 * Returns the provider text that state stores for a resource: one constant line. Destroy and refresh therefore run the
 * installed code, and no secret or client is captured (docs/adr/0002-one-line-providers.md).
 */
export function providerText(key: AnyHandlerKey): string {
  return `exports.handler=()=>require("foresail/handlers").handlers[${JSON.stringify(key)}]`;
}

type Parts<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends (infer Item)[]
    ? DeepInput<Item>[]
    : { [Key in keyof T]: DeepInput<T[Key]> };

/** A value as a program passes it: all of it, or any part, may be known only during the run. */
export type DeepInput<T> = unknown extends T ? unknown : pulumi.Input<Parts<T>>;

/**
 * The arguments of a resource, derived from its handlers' inputs.
 *
 * @typeParam Computed inputs besides `steps` that the check or the resource's class sets
 */
export type ResourceArgs<Inputs, Computed extends keyof Inputs = never> = {
  [Key in keyof Inputs as Key extends Computed | "__provider" | "steps" ? never : Key]: DeepInput<
    Inputs[Key]
  >;
};

/** Names of a resource's properties: those that the handlers add to the inputs, and the secret ones of both. */
interface ResourceProperties<Outputs> {
  outputs?: (keyof Outputs & string)[];
  secrets?: (keyof Outputs & string)[];
}

let isLinked = false;

/** Lets the provider process find this package before the first resource reaches the engine. */
function linkPackageOnce(): void {
  if (isLinked) return;
  isLinked = true;
  linkPackage(process.cwd());
}

/** A resource whose handlers are foresail's own and run in Pulumi's dynamic-provider process. */
export abstract class DynamicResource<Outputs extends object> extends pulumi.CustomResource {
  /**
   * @param key the handlers in providers/handlers.ts, "<folder>/<Type>"
   * @param args the inputs; a subclass's constructor declares them as ResourceArgs of its handlers' inputs
   */
  protected constructor(
    key: AnyHandlerKey,
    name: string,
    args: object,
    { outputs = [], secrets = [] }: ResourceProperties<Outputs>,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    linkPackageOnce();
    super(
      OWN_TYPES + key.slice(key.indexOf("/") + 1),
      name,
      {
        ...Object.fromEntries(outputs.map((output) => [output, undefined])),
        ...withKubeconfigInputs(args),
        __provider: providerText(key),
      },
      { ...opts, additionalSecretOutputs: [...secrets, ...(opts.additionalSecretOutputs ?? [])] },
    );
  }
}

/**
 * Returns the class of a resource that only passes its arguments on. Its properties are the outputs of its handlers.
 *
 * @typeParam Computed inputs besides `steps` that the check sets
 */
export function resourceClass<
  Inputs extends object,
  Outputs extends object = Inputs,
  Computed extends keyof Inputs = never,
>(key: AnyHandlerKey, properties: ResourceProperties<Outputs> = {}) {
  type Instance = DynamicResource<Outputs> & {
    readonly [Key in keyof Outputs]-?: pulumi.Output<Outputs[Key]>;
  };
  type Args = ResourceArgs<Inputs, Computed>;
  return class extends DynamicResource<Outputs> {
    constructor(name: string, args: Args, opts?: pulumi.CustomResourceOptions) {
      super(key, name, args, properties, opts);
    }
  } as unknown as new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => Instance;
}
