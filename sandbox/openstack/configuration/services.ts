import path from "node:path";
import {
  database,
  internalUrl,
  logFile,
  NO_BROKER,
  serviceLogin,
  tokenCheck,
  type Configured,
} from "./common";
import { renderIni } from "./ini";

const locks = ({ paths }: Configured) => ({ lock_path: path.join(paths.state, "locks") });

/** keystone.conf */
function keystoneConfiguration(configured: Configured): string {
  const { paths } = configured;
  return renderIni({
    DEFAULT: { log_file: logFile(configured, "keystone"), max_token_size: 255 },
    database: { connection: database(configured, "keystone") },
    token: { provider: "fernet" },
    fernet_tokens: { key_repository: path.join(paths.state, "fernet") },
    credential: { key_repository: path.join(paths.state, "credential") },
    // logins are frequent, and the passwords are random
    identity: { password_hash_rounds: 4 },
    cache: { enabled: true, backend: "oslo_cache.dict" },
  });
}

/** placement.conf */
function placementConfiguration(configured: Configured): string {
  return renderIni({
    DEFAULT: { log_file: logFile(configured, "placement") },
    api: { auth_strategy: "keystone" },
    placement_database: { connection: database(configured, "placement") },
    keystone_authtoken: tokenCheck(configured),
  });
}

/** glance-api.conf */
function glanceConfiguration(configured: Configured): string {
  const { paths, settings, environment } = configured;
  const store = (name: string) => ({ filesystem_store_datadir: path.join(paths.state, name) });
  return renderIni({
    DEFAULT: {
      log_file: logFile(configured, "glance"),
      bind_host: "127.0.0.1",
      bind_port: settings.ports.internal.glance,
      workers: 0,
      transport_url: NO_BROKER,
      enabled_backends: "files:file",
    },
    glance_store: { default_backend: "files" },
    files: store("images"),
    os_glance_staging_store: store("staging"),
    os_glance_tasks_store: store("tasks"),
    database: { connection: database(configured, "glance") },
    paste_deploy: {
      flavor: "keystone",
      config_file: path.join(environment, "etc", "glance", "glance-api-paste.ini"),
    },
    keystone_authtoken: tokenCheck(configured),
    oslo_concurrency: locks(configured),
  });
}

/** neutron.conf, with ML2's options in it */
function neutronConfiguration(configured: Configured): string {
  const { paths, environment } = configured;
  return renderIni({
    DEFAULT: {
      log_file: logFile(configured, "neutron"),
      core_plugin: "ml2",
      service_plugins: "router",
      transport_url: NO_BROKER,
      auth_strategy: "keystone",
      api_paste_config: path.join(environment, "etc", "neutron", "api-paste.ini"),
      state_path: paths.state,
      notify_nova_on_port_status_changes: false,
      notify_nova_on_port_data_changes: false,
      dhcp_agent_notification: false,
      rpc_workers: 0,
      api_workers: 0,
    },
    database: { connection: database(configured, "neutron") },
    oslo_concurrency: locks(configured),
    ml2: {
      type_drivers: "local,flat,vlan",
      tenant_network_types: "vlan",
      mechanism_drivers: "foresail",
      extension_drivers: "port_security",
    },
    ml2_type_flat: { flat_networks: "*" },
    ml2_type_vlan: { network_vlan_ranges: "physnet1:100:3000" },
    keystone_authtoken: tokenCheck(configured),
  });
}

/** nova.conf, for all of its services */
function novaConfiguration(configured: Configured): string {
  const { settings, paths, environment } = configured;
  const login = serviceLogin(configured);
  return renderIni({
    DEFAULT: {
      log_file: logFile(configured, "nova"),
      compute_driver: "foresail_machines.ForesailMachines",
      host: "sandbox",
      my_ip: "127.0.0.1",
      state_path: paths.state,
      transport_url: NO_BROKER,
      enabled_apis: "osapi_compute",
      osapi_compute_listen: "127.0.0.1",
      osapi_compute_listen_port: settings.ports.internal.nova,
      osapi_compute_workers: 1,
      vif_plugging_is_fatal: false,
      vif_plugging_timeout: 0,
      graceful_shutdown_timeout: 2,
    },
    api: { auth_strategy: "keystone" },
    api_database: { connection: database(configured, "nova_api") },
    database: { connection: database(configured, "nova") },
    wsgi: { api_paste_config: path.join(environment, "etc", "nova", "api-paste.ini") },
    conductor: { workers: 1 },
    // there is only one host: a second attempt would only hide why the first one failed
    scheduler: { workers: 1, max_attempts: 1 },
    oslo_concurrency: locks(configured),
    keystone_authtoken: tokenCheck(configured),
    // cinder lets only nova itself detach a server's volume
    service_user: { send_service_user_token: settings.cinder === true, ...login },
    placement: login,
    neutron: login,
    glance: login,
    cinder: { auth_type: "password", catalog_info: "block-storage::internalURL" },
  });
}

/** cinder.conf, for all of its services */
function cinderConfiguration(configured: Configured): string {
  const { settings, paths, environment } = configured;
  return renderIni({
    DEFAULT: {
      log_file: logFile(configured, "cinder"),
      host: "sandbox",
      my_ip: "127.0.0.1",
      state_path: paths.state,
      transport_url: NO_BROKER,
      auth_strategy: "keystone",
      api_paste_config: path.join(environment, "etc", "cinder", "api-paste.ini"),
      resource_query_filters_file: path.join(environment, "etc", "cinder", "resource_filters.json"),
      osapi_volume_listen: "127.0.0.1",
      osapi_volume_listen_port: settings.ports.internal.cinder,
      osapi_volume_workers: 1,
      enabled_backends: "foresail",
      glance_api_servers: internalUrl(settings, "glance"),
      // there is only one backend: a second attempt would only hide why the first one failed
      scheduler_max_attempts: 1,
      graceful_shutdown_timeout: 2,
    },
    foresail: { volume_driver: "foresail_volumes.ForesailVolumes", volume_backend_name: "foresail" },
    database: { connection: database(configured, "cinder") },
    coordination: { backend_url: `file://${path.join(paths.state, "cinder-coordination")}` },
    oslo_concurrency: locks(configured),
    keystone_authtoken: { ...tokenCheck(configured), service_token_roles: "service" },
    nova: serviceLogin(configured),
  });
}

/** octavia.conf */
function octaviaConfiguration(configured: Configured): string {
  const { settings, paths } = configured;
  const socket = (name: string) => path.join(paths.state, `octavia-${name}.sock`);
  const login = serviceLogin(configured);
  return renderIni({
    DEFAULT: { log_file: logFile(configured, "octavia"), transport_url: NO_BROKER },
    api_settings: {
      bind_host: "127.0.0.1",
      bind_port: settings.ports.internal.octavia,
      auth_strategy: "keystone",
      enabled_provider_drivers: "foresail:accepts everything",
      default_provider_driver: "foresail",
      api_base_uri: internalUrl(settings, "octavia"),
    },
    database: { connection: database(configured, "octavia") },
    certificates: { cert_manager: "noop_cert_manager" },
    controller_worker: { network_driver: "allowed_address_pairs_driver" },
    driver_agent: {
      status_socket_path: socket("status"),
      stats_socket_path: socket("stats"),
      get_socket_path: socket("get"),
    },
    oslo_policy: { enforce_scope: false },
    keystone_authtoken: tokenCheck(configured),
    service_auth: login,
    neutron: login,
  });
}

/** Returns the configuration file of each service: its name and its text. */
export const CONFIGURATIONS = {
  keystone: { file: "keystone.conf", render: keystoneConfiguration },
  placement: { file: "placement.conf", render: placementConfiguration },
  glance: { file: "glance-api.conf", render: glanceConfiguration },
  neutron: { file: "neutron.conf", render: neutronConfiguration },
  nova: { file: "nova.conf", render: novaConfiguration },
  octavia: { file: "octavia.conf", render: octaviaConfiguration },
  cinder: { file: "cinder.conf", render: cinderConfiguration },
} as const;
