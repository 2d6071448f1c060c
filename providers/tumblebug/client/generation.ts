import type { Generation } from "../plan/model";
import type { TumblebugApi } from "./api";
import { TumblebugRefusal, UnexpectedAnswer } from "./errors";

/** Any valid name: only the existence of the route matters. */
const ANY = "foresail";

/**
 * Detects a server's generation with routes that only one generation has. A server with the route answers with an error
 * about the namespace, a server without it with "Not Found".
 *
 * @throws TumblebugRefusal, TumblebugUnreachable; UnexpectedAnswer for a server of neither generation
 */
export async function findGeneration(api: TumblebugApi): Promise<Generation> {
  if (await hasPath(api, `/ns/${ANY}/checkInfra/${ANY}`)) return "infra";
  if (await hasPath(api, `/ns/${ANY}/checkMcis/${ANY}`)) return "mcis";
  const words = (await hasPath(api, `/ns/${ANY}/checkMci/${ANY}`))
    ? 'it is of the generation between (after 0.9.4 and before 0.12.6, "mci"), which foresail does not speak'
    : "it has neither infras nor MCIS; does the address end with /tumblebug?";
  throw new UnexpectedAnswer("finding out the server's generation", words);
}

async function hasPath(api: TumblebugApi, path: string): Promise<boolean> {
  try {
    await api.call({ method: "GET", path, isRepeatable: true });
    return true;
  } catch (error) {
    if (!(error instanceof TumblebugRefusal)) throw error;
    if (["Unauthorized", "RateLimited", "Unavailable"].includes(error.code)) throw error;
    return error.status !== 404 || /Not valid namespace/i.test(error.remote);
  }
}
