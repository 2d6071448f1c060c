import type { ClusterSpecification } from "../../plan/specification";
import { noProxyIssue, proxyUrlIssue } from "../../../../lib/validation/urls";
import { quote, writeFile } from "./script";

/** Returns containerd's hosts.toml for one registry: its mirrors in order, then the registry itself. */
export function hostsToml(registry: string, mirrors: string[]): string {
  const server = registry === "docker.io" ? "https://registry-1.docker.io" : `https://${registry}`;
  return [
    `server = ${JSON.stringify(server)}`,
    ...mirrors.map((mirror) => `\n[host.${JSON.stringify(mirror)}]\n  capabilities = ["pull", "resolve"]`),
    "",
  ].join("\n");
}

/** Returns registry credentials in the form of containerd's configuration; secret, so passed on standard input. */
export function registryCredentialsToml(
  credentials: Record<string, { username: string; password: string }>,
): string {
  return Object.entries(credentials)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(
      ([host, { username, password }]) =>
        `[plugins."io.containerd.grpc.v1.cri".registry.configs.${JSON.stringify(host)}.auth]\n` +
        `  username = ${JSON.stringify(username)}\n  password = ${JSON.stringify(password)}\n`,
    )
    .join("");
}

/**
 * Returns shell lines that configure containerd and restart it only when something changed. The registry credentials
 * come from standard input, as formatted by registryCredentialsToml.
 */
export function configureContainerd(specification: ClusterSpecification): string {
  const systemdCgroup = specification.kubelet.cgroupDriver !== "cgroupfs";
  const repository = specification.imageRepository;
  return [
    ...Object.entries(specification.registryMirrors).map(([registry, mirrors]) =>
      writeFile(`/etc/containerd/certs.d/${registry}/hosts.toml`, hostsToml(registry, mirrors), "0644"),
    ),
    `
pause=$(kubeadm config images list --kubernetes-version v${specification.version} ${repository ? `--image-repository ${quote(repository)}` : ""} 2>/dev/null | grep '/pause:')
mkdir -p /etc/containerd /opt/cni/bin
containerd config default | sed -E \\
  -e "s|^( *sandbox_image = ).*|\\1\\"$pause\\"|" \\
  -e 's|^( *SystemdCgroup = ).*|\\1${systemdCgroup}|' \\
  -e 's|^( *config_path = )""|\\1"/etc/containerd/certs.d"|' \\
  > /run/foresail-containerd.toml
# a container may not raise its own out-of-memory score
if [ "$in_container" = yes ]; then sed -i -E 's|^( *restrict_oom_score_adj = ).*|\\1true|' /run/foresail-containerd.toml; fi
cat <&5 >> /run/foresail-containerd.toml
chmod 0600 /run/foresail-containerd.toml
if ! cmp --silent /run/foresail-containerd.toml /etc/containerd/config.toml || [ "$restart_containerd" = yes ] || ! systemctl is-active --quiet containerd; then
  mv -f /run/foresail-containerd.toml /etc/containerd/config.toml
  systemctl daemon-reload
  systemctl enable --quiet containerd
  systemctl restart containerd
else
  rm -f /run/foresail-containerd.toml
fi
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' || fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"`.trim(),
  ].join("\n");
}

/**
 * Refuses proxy settings that could inject text into systemd units or apt's settings.
 *
 * @throws Error when a value would end the quotes there, and its rest be read as more settings
 */
function refuseInjection({ http, https, noProxy }: NonNullable<ClusterSpecification["proxy"]>): void {
  const issues = { http: http && proxyUrlIssue(http), https: https && proxyUrlIssue(https) };
  for (const [field, issue] of [
    ...Object.entries(issues),
    ...noProxy.map((host) => ["noProxy", noProxyIssue(host)] as const),
  ])
    if (issue) throw new Error(`proxy.${field}: ${issue}`);
}

/** Returns the variables of an HTTP proxy; the cluster's own addresses never use it. */
function proxyVariables(specification: ClusterSpecification): string[] {
  const { proxy, network, endpoint } = specification;
  if (!proxy) return [];
  const own = [
    "127.0.0.1",
    "localhost",
    network.podCidr,
    network.serviceCidr,
    `.${network.dnsDomain}`,
    ".svc",
  ];
  refuseInjection(proxy);
  // the kubelet connects to the API server by this name
  const external = "external" in endpoint ? [endpoint.external.host] : [];
  return [
    ...(proxy.http ? [`HTTP_PROXY=${proxy.http}`] : []),
    ...(proxy.https ? [`HTTPS_PROXY=${proxy.https}`] : []),
    `NO_PROXY=${[...new Set([...own, ...external, ...proxy.noProxy])].join(",")}`,
  ];
}

/** Returns shell lines, one per variable, that make programs of the same script use the proxy. */
export function exportProxy(specification: ClusterSpecification): string[] {
  const lowerCase = (variable: string) => variable.replace(/^[A-Z_]+/, (name) => name.toLowerCase());
  return proxyVariables(specification).map(
    (variable) => `export ${quote(variable)} ${quote(lowerCase(variable))}`,
  );
}

/**
 * Returns shell lines for proxies and additional CA certificates; they set restart_containerd when containerd must
 * reload.
 */
export function configureEnvironment(specification: ClusterSpecification): string {
  const lines = ["changed=no"];
  const { proxy, caBundle } = specification;
  if (caBundle) {
    lines.push(
      writeFile("/usr/local/share/ca-certificates/foresail.crt", caBundle, "0644"),
      'if [ "$changed" = yes ]; then update-ca-certificates >/dev/null; fi',
    );
  }
  if (proxy) {
    const variables = proxyVariables(specification);
    const dropIn = `[Service]\n${variables.map((variable) => `Environment="${variable}"`).join("\n")}\n`;
    const aptProxies = [
      ...(proxy.http ? [`Acquire::http::Proxy "${proxy.http}";`] : []),
      ...(proxy.https ? [`Acquire::https::Proxy "${proxy.https}";`] : []),
    ];
    lines.push(
      ...exportProxy(specification),
      ...["containerd", "kubelet"].map((unit) =>
        writeFile(`/etc/systemd/system/${unit}.service.d/foresail-proxy.conf`, dropIn, "0644"),
      ),
      writeFile("/etc/apt/apt.conf.d/90foresail-proxy", `${aptProxies.join("\n")}\n`, "0644"),
    );
  }
  return [...lines, "restart_containerd=$changed"].join("\n");
}
