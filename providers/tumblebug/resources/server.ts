import { explained, type FailureContext } from "../../../lib/pulumi/failure";
import { engineSignal } from "../../../lib/process/parent-watch";
import type { Tumblebug, TumblebugOptions, TumblebugSettings } from "../client";
import type { Generation } from "../plan/model";
import { report } from "../../../lib/pulumi/log";

/** Connection options for the server, in the inputs of every resource. */
export interface ServerInputs extends Pick<TumblebugSettings, "address" | "caCertificates"> {
  generation: Generation | "auto";
  /** Secret. @default $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD */
  credentials?: { username: string; password: string };
}

/** Deadline of each call to the server during check. */
export const IN_PREVIEW: CallOptions = { seconds: 15 };

type CallOptions = Pick<TumblebugOptions, "seconds" | "longSeconds">;

/**
 * Runs `work` with a client of the server. Stops before the next call after the engine has ended.
 *
 * @param resource name of the resource in progress messages
 */
export async function withServer<Result>(
  resource: string,
  server: ServerInputs,
  work: (tumblebug: Tumblebug, signal: AbortSignal) => Promise<Result>,
  options: CallOptions = {},
): Promise<Result> {
  const { openTumblebug } = await import("../client/index.js");
  const { address, generation, caCertificates } = server;
  const engine = engineSignal();
  let tumblebug: Tumblebug | undefined;
  try {
    const detected = generation === "auto" ? undefined : generation;
    tumblebug = await openTumblebug(
      { address, ...credentialsOf(server), generation: detected, caCertificates },
      { ...options, signal: engine.signal, progress: (line) => report(resource, line) },
    );
    return await work(tumblebug, engine.signal);
  } finally {
    engine.stop();
    tumblebug?.close();
  }
}

/**
 * Runs a step of a resource with a client of the server.
 * @throws Error with the resource, the step, the reason and the remediation
 */
export function runStep<Result>(
  context: FailureContext,
  server: ServerInputs,
  work: (tumblebug: Tumblebug, signal: AbortSignal) => Promise<Result>,
  options?: CallOptions,
): Promise<Result> {
  return explained(context, () => withServer(context.resource, server, work, options));
}

function credentialsOf({ credentials }: ServerInputs): { user: string; password: string } {
  const user = credentials?.username ?? process.env["TUMBLEBUG_USERNAME"];
  const password = credentials?.password ?? process.env["TUMBLEBUG_PASSWORD"];
  if (user !== undefined && password !== undefined) return { user, password };
  throw new Error(
    "no user name and password for Tumblebug; set TUMBLEBUG_USERNAME and TUMBLEBUG_PASSWORD, or " +
      "pulumi config set --secret --path foresail:tumblebugCredentials.username (and .password)",
  );
}
