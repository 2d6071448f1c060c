import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The backend in use is not a file backend, and only its own service can clear its locks. */
export class NotAFileBackendError extends Error {
  override readonly name = "NotAFileBackendError";

  constructor(backend: string | undefined, stack: string) {
    super(
      `${backend === undefined ? "no backend is logged in to" : `the backend ${backend} is not a folder`}; ` +
        `its locks are cleared with: pulumi cancel ${stack}`,
    );
  }
}

/**
 * Returns the folder of the file backend that `pulumi` would use here: PULUMI_BACKEND_URL, else the last `pulumi
 * login`.
 *
 * @throws NotAFileBackendError
 */
export async function findStateFolder(stack: string, environment = process.env): Promise<string> {
  const backend = environment["PULUMI_BACKEND_URL"] ?? (await lastLogin(environment));
  if (backend === undefined || !backend.startsWith("file://")) throw new NotAFileBackendError(backend, stack);
  const location = backend.slice("file://".length);
  if (location === "~" || location.startsWith("~/")) return path.join(homedir(), location.slice(1));
  return location.startsWith("/") ? fileURLToPath(backend) : path.resolve(location);
}

async function lastLogin(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const home = environment["PULUMI_HOME"] ?? path.join(homedir(), ".pulumi");
  const text = await readFile(path.join(home, "credentials.json"), "utf8").catch(() => "{}");
  return (JSON.parse(text) as { current?: string }).current;
}
