import { z } from "zod";

/** Where a Temporal server is, in fleet.yaml. */
export const TemporalServer = z
  .strictObject({
    address: z
      .string()
      .regex(
        /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/,
        "write host and port, such as temporal.example.com:7233",
      )
      .default("127.0.0.1:7233")
      .describe("Host and port of the server's frontend; TEMPORAL_ADDRESS takes precedence."),
    namespace: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, "write letters, digits, -, _ and .")
      .default("default")
      .describe("Namespace of the server in which the fleet's workflows are."),
    tls: z
      .boolean()
      .optional()
      .describe("Whether the connection is encrypted; default: unless the address is a loopback address."),
  })
  .describe("A Temporal server that runs the waves, with workers in the regions.");

export type TemporalServer = z.output<typeof TemporalServer>;

/** Returns whether an address is one of this machine only. */
const isLoopback = (address: string) => /^(localhost|127(\.\d+){3}|\[::1\]):/.test(address);

/** How to connect to a server: what fleet.yaml says, with the variables of Temporal's own command over it. */
export interface TemporalAccess {
  readonly address: string;
  readonly namespace: string;
  readonly isEncrypted: boolean;
  readonly apiKey?: string;
  readonly serverName?: string;
  /** Files in PEM form. */
  readonly files: { readonly authority?: string; readonly certificate?: string; readonly key?: string };
}

/** Returns how to connect to a server. An API key and certificates come from the environment alone, and need TLS. */
export function temporalAccess(
  { address, namespace, tls }: TemporalServer,
  environment: Readonly<Record<string, string | undefined>>,
): TemporalAccess {
  const given = (name: string) => environment[`TEMPORAL_${name}`] || undefined;
  const at = given("ADDRESS") ?? address;
  const [apiKey, serverName] = [given("API_KEY"), given("TLS_SERVER_NAME")];
  const [authority, certificate, key] = ["SERVER_CA_CERT", "CLIENT_CERT", "CLIENT_KEY"].map((name) =>
    given(`TLS_${name}_PATH`),
  );
  const hasCredentials = [apiKey, serverName, authority, certificate].some((value) => value !== undefined);
  return {
    address: at,
    namespace: given("NAMESPACE") ?? namespace,
    isEncrypted: hasCredentials || (tls ?? !isLoopback(at)),
    ...(apiKey && { apiKey }),
    ...(serverName && { serverName }),
    files: { ...(authority && { authority }), ...(certificate && { certificate }), ...(key && { key }) },
  };
}
