import type * as pulumi from "@pulumi/pulumi";

/** The handlers of one resource; only `create` is required. */
export type Handlers = pulumi.dynamic.ResourceProvider;
