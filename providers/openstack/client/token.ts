import type { CloudConfiguration, CloudCredentials, Identity } from "./cloud-configuration";
import { CloudRefusal, refusalCode, remoteWords } from "./errors";
import type { HttpClient } from "../../../lib/http-client";

/** A Keystone token with its metadata. The value is secret. */
export interface Token {
  value: string;
  /** Milliseconds since the epoch. */
  expires: number;
  catalog: CatalogService[];
  /** Id of the token's project, if it is scoped to one. */
  project?: string;
  /** Id of the token's user. */
  user?: string;
  /** Whether the token is from a restricted application credential, which can't create others. */
  restricted: boolean;
}

interface CatalogService {
  type: string;
  endpoints: { interface: string; region?: string; region_id?: string; url: string }[];
}

/**
 * Requests a token from Keystone (v3).
 *
 * @throws CloudRefusal; Error when Keystone does not answer
 */
export async function obtainToken(
  http: HttpClient,
  { authUrl, credentials }: CloudConfiguration,
  milliseconds: number,
): Promise<Token> {
  const reply = await http.send({
    method: "POST",
    url: `${authUrl}/auth/tokens`,
    body: { auth: authenticationOf(credentials) },
    milliseconds,
  });
  const value = reply.headers["x-subject-token"];
  if (reply.status !== 201 || typeof value !== "string") {
    const words = remoteWords(reply.body, reply.text);
    throw new CloudRefusal("authentication", reply.status, words, refusalCode(reply.status, words));
  }
  const { token } = reply.body as {
    token: {
      expires_at: string;
      catalog?: CatalogService[];
      project?: { id: string };
      user?: { id: string };
      application_credential?: { restricted?: boolean };
    };
  };
  return {
    value,
    expires: Date.parse(token.expires_at),
    catalog: token.catalog ?? [],
    ...(token.project ? { project: token.project.id } : {}),
    ...(token.user ? { user: token.user.id } : {}),
    restricted: token.application_credential?.restricted ?? false,
  };
}

function authenticationOf(credentials: CloudCredentials): object {
  if (credentials.kind === "application-credential") {
    const { id, name, user, secret } = credentials;
    const which = id === undefined ? { name, user: namedIn(user) } : { id };
    return {
      identity: { methods: ["application_credential"], application_credential: { ...which, secret } },
    };
  }
  const { user, password, project, domain } = credentials;
  return {
    identity: { methods: ["password"], password: { user: { ...namedIn(user), password } } },
    ...(project ? { scope: { project: namedIn(project) } } : {}),
    ...(domain
      ? { scope: { domain: domain.id === undefined ? { name: domain.name } : { id: domain.id } } }
      : {}),
  };
}

function namedIn(identity: Identity | undefined): object {
  if (identity === undefined) return {};
  const { id, name, domain } = identity;
  return id === undefined ? { name, domain } : { id };
}

/** Time before expiry at which a token is renewed. */
const MARGIN_MILLISECONDS = 120_000;

/** Returns whether a token is valid long enough for another call. */
export function isFresh(token: Token, now = Date.now()): boolean {
  return token.expires - now > MARGIN_MILLISECONDS;
}
