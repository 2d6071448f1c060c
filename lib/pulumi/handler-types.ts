import type * as pulumi from "@pulumi/pulumi";

/** What the handlers of one resource offer; all of it optional but create. */
export type Handlers = pulumi.dynamic.ResourceProvider;
