import { readGivenFile } from "../../../lib/files";
import { messageOf } from "../../../lib/error-message";
import { CommandError } from "../../terminal/exit-codes";
import { type TemporalAccess, temporalAccess, type TemporalServer } from "../plan/temporal-server";

/** How long a server may take to answer the first call, in milliseconds. */
const CONNECT_MILLISECONDS = 10_000;

/** The versions that the tests run with. */
const INSTALL = ["client", "worker", "workflow", "activity"]
  .map((name) => `@temporalio/${name}@1.24.0`)
  .join(" ");

/** Loads Temporal's SDK, which foresail does not install. @throws CommandError that says how to install it */
export async function loadSdk<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND" &&
      (error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND"
    )
      throw error;
    throw new CommandError(
      "failed",
      `Temporal's SDK is not installed; install it beside foresail: npm install --save-exact ${INSTALL}`,
    );
  }
}

/** Returns the address and the credentials for a connection, as both connections of the SDK take them. */
async function optionsOf({ address, isEncrypted, apiKey, serverName, files }: TemporalAccess) {
  const read = async (file: string | undefined, what: string) =>
    file === undefined
      ? undefined
      : Buffer.from(
          await readGivenFile(file, what, "correct the variable TEMPORAL_TLS_…_PATH that names it"),
        );
  const serverRootCACertificate = await read(files.authority, "the certificate authority");
  const crt = await read(files.certificate, "the certificate");
  const key = await read(files.key, "the key");
  if ((crt === undefined) !== (key === undefined))
    throw new CommandError(
      "failed",
      "give both TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH",
    );
  const tls = {
    ...(serverName && { serverNameOverride: serverName }),
    ...(serverRootCACertificate && { serverRootCACertificate }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
  return { address, tls: isEncrypted ? tls : null, ...(apiKey && { apiKey }) };
}

const unreachable = (address: string) => (error: unknown) => {
  throw new CommandError(
    "failed",
    `the Temporal server at ${address} can't be reached: ${messageOf(error)}\n` +
      "Check runner.temporal in fleet.yaml and TEMPORAL_ADDRESS; for a trial: temporal server start-dev",
  );
};

/** Connects to the server as a client. @throws CommandError that names the address */
export async function connectClient(server: TemporalServer) {
  const { Client, Connection } = await loadSdk(() => import("@temporalio/client"));
  const access = temporalAccess(server, process.env);
  const connection = await Connection.connect({
    ...(await optionsOf(access)),
    connectTimeout: CONNECT_MILLISECONDS,
  }).catch(unreachable(access.address));
  return new Client({ connection, namespace: access.namespace });
}

/** Connects to the server as a worker. @throws CommandError that names the address */
export async function connectWorker(server: TemporalServer) {
  const sdk = await loadSdk(() => import("@temporalio/worker"));
  const access = temporalAccess(server, process.env);
  // signals are foresail's to handle
  sdk.Runtime.install({ shutdownSignals: [], logger: new sdk.DefaultLogger("WARN") });
  const connection = await sdk.NativeConnection.connect(await optionsOf(access)).catch(
    unreachable(access.address),
  );
  return { sdk, connection, ...access };
}
