import { internalUrl, publicUrl } from "./configuration/common";
import { administratorLogin } from "./seed";
import type { CloudSettings, ServiceName } from "./settings";

/** An unsuccessful response of OpenStack. */
class CloudApiError extends Error {
  override readonly name = "CloudApiError";

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The cloud's APIs, for the sandbox and its tests; the product has its own clients. */
export interface CloudApi {
  /**
   * Sends a request to a service.
   * @param path below the service's address; nova's without "/v2.1", cinder's without "/v3"
   * @returns the JSON of the response; undefined when it has none
   * @throws CloudApiError
   */
  call(service: ServiceName, method: string, path: string, body?: unknown): Promise<unknown>;
}

const VERSIONS: Partial<Record<ServiceName, string>> = { nova: "/v2.1", cinder: "/v3" };

/** The project's calls are subject to faults, the administrator's are not. */
export function cloudApi(settings: CloudSettings, as: "administrator" | { credential: string }): CloudApi {
  const url = (service: ServiceName) =>
    (as === "administrator" ? internalUrl : publicUrl)(settings, service) + (VERSIONS[service] ?? "");
  let token: string | undefined;
  const logIn = async (): Promise<string> => {
    const login = administratorLogin(settings, "");
    const domain = { name: "Default" };
    const auth =
      as === "administrator"
        ? {
            identity: {
              methods: ["password"],
              password: { user: { name: login["username"], domain, password: login["password"] } },
            },
            scope: { project: { name: login["project_name"], domain } },
          }
        : {
            identity: {
              methods: ["application_credential"],
              application_credential: { id: as.credential, secret: settings.passwords.credential },
            },
          };
    const response = await send("POST", `${url("keystone")}/v3/auth/tokens`, { auth }, {});
    return response.headers.get("x-subject-token") ?? "";
  };
  return {
    async call(service, method, path, body) {
      token ??= await logIn();
      const headers = {
        "x-auth-token": token,
        ...(service === "nova" ? { "openstack-api-version": "compute 2.79" } : {}),
        ...(service === "cinder" ? { "openstack-api-version": "volume 3.70" } : {}),
      };
      const response = await send(method, url(service) + path, body, headers);
      const text = await response.text();
      return text === "" ? undefined : (JSON.parse(text) as unknown);
    },
  };
}

async function send(
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, "content-type": "application/json", accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(200_000),
  });
  if (response.ok) return response;
  throw new CloudApiError(response.status, `${method} ${url}: ${response.status} ${await response.text()}`);
}
