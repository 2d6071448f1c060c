import { NODE_PATHS } from "../../plan/node-paths";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";

/**
 * Shell lines that undo what a killed init or join left on a machine of this cluster that is no member. Only kubeadm's
 * own files count: the configuration may have put other files next to them.
 */
export const CLEAR_HALF_MADE = `
if [ -n "$(find /etc/kubernetes/{manifests,pki} /etc/kubernetes/{admin,super-admin,kubelet,bootstrap-kubelet,controller-manager,scheduler}.conf -type f -print -quit 2>/dev/null)" ]; then
  kubeadm reset --force --skip-phases=remove-etcd-member
fi
rm -rf /var/lib/etcd/member`.trim();

/** Shell line that marks the machine as a member; from then on, init, join and prepare do nothing on it. */
export const MARK_MEMBER = `date -u +%FT%TZ > ${NODE_PATHS.member}`;

/** Shell lines that create the key for Secrets at rest, once; it never leaves the control planes. */
const ENSURE_ENCRYPTION = `
if [ ! -e ${NODE_PATHS.encryption} ]; then
  mkdir -p "$(dirname ${NODE_PATHS.encryption})"
  cat > ${NODE_PATHS.encryption}.new <<YAML
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox:
          keys:
            - name: foresail-1
              secret: $(head -c 32 /dev/urandom | base64 -w 0)
      - identity: {}
YAML
  mv ${NODE_PATHS.encryption}.new ${NODE_PATHS.encryption}
fi`.trim();

/** Runs kubeadm init, unless the machine is a member. Data: the kubeadm configuration. Its answer is empty. */
export function initScript(cluster: string, machine: string, encryptSecretsAtRest: boolean): Script {
  return frame(
    "init",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `if [ -e ${NODE_PATHS.member} ]; then exit 0; fi`,
      "cat <&5 > $scratch/kubeadm.yaml",
      CLEAR_HALF_MADE,
      ...(encryptSecretsAtRest ? [ENSURE_ENCRYPTION] : []),
      "kubeadm init --config $scratch/kubeadm.yaml --skip-token-print --skip-certificate-key-print",
      MARK_MEMBER,
    ].join("\n"),
  );
}
