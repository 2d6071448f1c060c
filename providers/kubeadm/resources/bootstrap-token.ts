import { randomInt } from "node:crypto";
import type { KubernetesClient } from "../../../lib/kubernetes";

const TOKEN_MINUTES = 15;
const TOKEN_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomWord(length: number): string {
  return Array.from({ length }, () => TOKEN_LETTERS[randomInt(TOKEN_LETTERS.length)]).join("");
}

interface Token {
  id: string;
  secret: string;
  madeAt: number;
}

function reference(id: string) {
  return { apiVersion: "v1", kind: "Secret", namespace: "kube-system", name: `bootstrap-token-${id}` };
}

/**
 * Bootstrap tokens of one run, valid for 15 minutes each. They are created through the API in kubeadm's form, passed to
 * joining machines on standard input, and deleted at the end.
 */
export class BootstrapTokens {
  private current?: Promise<Token>;
  private readonly made: string[] = [];

  constructor(
    private readonly kubernetes: KubernetesClient,
    private readonly purpose: string,
  ) {}

  /** Returns a token with more than half of its lifetime left. */
  async token(): Promise<string> {
    const token = await this.current;
    const fresh = token && Date.now() - token.madeAt < (TOKEN_MINUTES / 2) * 60_000;
    if (!fresh) this.current = this.mint();
    const { id, secret } = await (this.current as Promise<Token>);
    return `${id}.${secret}`;
  }

  /** Deletes every token of the run. */
  async revoke(): Promise<void> {
    await Promise.all(this.made.splice(0).map((id) => this.kubernetes.delete(reference(id))));
    this.current = undefined;
  }

  private async mint(): Promise<Token> {
    const token = { id: randomWord(6), secret: randomWord(16), madeAt: Date.now() };
    // recorded before the call: even if the response is lost, the token may exist
    this.made.push(token.id);
    const { apiVersion, kind, namespace, name } = reference(token.id);
    await this.kubernetes.create({
      apiVersion,
      kind,
      metadata: { namespace, name },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        description: this.purpose,
        "token-id": token.id,
        "token-secret": token.secret,
        expiration: new Date(token.madeAt + TOKEN_MINUTES * 60_000).toISOString(),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
      },
    });
    return token;
  }
}
