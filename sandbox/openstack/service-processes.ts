import path from "node:path";
import { CONFIGURATIONS } from "./configuration/services";
import { pythonSources } from "./paths";
import type { ProcessSpec } from "../processes";
import { CLOUD_NAMES } from "./seed";
import type { CloudPaths, CloudSettings, ServiceName } from "./settings";

/** Names of the sandbox's own two processes beside the services. */
export const FRONT = "front";
export const MACHINES = "machines";

type WsgiService = Exclude<ServiceName, "nova" | "octavia" | "cinder">;

const WSGI_APPS: Readonly<Record<WsgiService, string>> = {
  keystone: "keystone_api:application",
  placement: "placement.wsgi.api:application",
  glance: "glance.wsgi.api:application",
  neutron: "neutron.wsgi.api:application",
};

/** The environment of every Python process of the cloud. */
export function pythonEnvironment(
  paths: CloudPaths,
  settings: Pick<CloudSettings, "containers">,
  base: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const environment = Object.fromEntries(
    // the user's own settings for clouds, Python and proxies do not apply to this cloud
    Object.entries(base).filter(
      ([name]) => !/^(OS_|PYTHON|GUNICORN|PULUMI_)|^(https?|all|no)_proxy$/i.test(name),
    ),
  );
  return {
    ...environment,
    PYTHONPATH: pythonSources,
    // the packages are compiled already, and the cloud does not write to the project, which contains the sources
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONUNBUFFERED: "1",
    PYTHONWARNINGS: "ignore",
    FORESAIL_FLOATING_IPS: paths.floatingIps,
    FORESAIL_VOLUME_FAULT: paths.volumeFault,
    ...(settings.containers ? { FORESAIL_MACHINES: paths.machines } : {}),
  };
}

/** Returns the file and the text of gunicorn's settings for a service. */
export function gunicornSettings(paths: CloudPaths, service: WsgiService, port: number) {
  const text = Object.entries({
    wsgi_app: WSGI_APPS[service],
    bind: `127.0.0.1:${port}`,
    worker_class: "gthread",
    // SQLite allows one writer at a time: more threads fail with "database is locked"
    threads: 1,
    workers: 1,
    timeout: 120,
    proc_name: `foresail-${service}`,
    control_socket_disable: true,
  })
    .map(([name, value]) => `${name} = ${value === true ? "True" : JSON.stringify(value)}\n`)
    .join("");
  return { file: path.join(paths.configuration, `${service}.gunicorn.py`), text };
}

export function isWsgi(service: ServiceName): service is WsgiService {
  return service in WSGI_APPS;
}

/** Returns how a service is started. */
export function serviceProcess(
  service: ServiceName,
  python: string,
  paths: CloudPaths,
  settings: CloudSettings,
): ProcessSpec {
  const environment = pythonEnvironment(paths, settings);
  const file = path.join(paths.configuration, CONFIGURATIONS[service].file);
  if (!isWsgi(service)) {
    return {
      name: service,
      command: python,
      args: [path.join(pythonSources, `${service}_services.py`), "--config-file", file],
      environment: {
        ...environment,
        FORESAIL_PORT: String(settings.ports.internal[service]),
        OS_CLIENT_CONFIG_FILE: paths.clouds,
        OS_CLOUD: CLOUD_NAMES.internal,
      },
      folder: paths.state,
    };
  }
  const upper = service.toUpperCase();
  return {
    name: service,
    command: path.join(path.dirname(python), "gunicorn"),
    args: [],
    environment: {
      ...environment,
      [`OS_${upper}_CONFIG_DIR`]: paths.configuration,
      [`OS_${upper}_CONFIG_FILES`]: CONFIGURATIONS[service].file,
      // these services parse gunicorn's arguments as their own
      GUNICORN_CMD_ARGS: `-c ${gunicornSettings(paths, service, 0).file}`,
    },
    folder: paths.state,
  };
}

/** Returns how one of the sandbox's own processes is started. */
export function ownProcess(name: typeof FRONT | typeof MACHINES, paths: CloudPaths): ProcessSpec {
  return {
    name,
    command: process.execPath,
    args: [path.join(__dirname, name, "main.js"), paths.folder],
    environment: process.env,
    folder: paths.folder,
  };
}
