/**
 * An SSH session that sets environment variables one by one and waits for the server's answer to each, as 1.2.1 does.
 * ssh2's public `exec` sends them without asking for an answer, so this opens the session on its channel layer (ssh2 is
 * pinned exactly; the conformance tests cover this).
 */
import type { Client, ClientChannel } from "ssh2";

const WINDOW = 2 * 1024 * 1024;
const PACKET = 32 * 1024;

type Answer = (refused: boolean | Error) => void;

interface SessionChannel extends ClientChannel {
  readonly outgoing: { readonly id: number };
  readonly _callbacks: Answer[];
}

interface ChannelLayer {
  readonly _chanMgr: {
    add(opened: ((error: Error | undefined, channel: SessionChannel) => void) & { type?: string }): number;
  };
  readonly _protocol: {
    session(id: number, window: number, packet: number): void;
    env(id: number, name: string, value: string, wantReply: boolean): void;
    exec(id: number, command: string, wantReply: boolean): void;
  };
}

export class Session {
  private constructor(
    private readonly layer: ChannelLayer,
    private readonly channel: SessionChannel,
    private readonly closed: Promise<never>,
  ) {}

  /** @throws Error when the server opens no session or the connection ends first */
  static async open(client: Client): Promise<Session> {
    const layer = client as unknown as ChannelLayer;
    const closed = new Promise<never>((_, reject) => {
      client.once("close", () => reject(new Error("the SSH connection was lost")));
    });
    closed.catch(() => undefined);
    const opening = new Promise<SessionChannel>((resolve, reject) => {
      const opened = (error: Error | undefined, channel: SessionChannel): void =>
        error === undefined ? resolve(channel) : reject(error);
      const id = layer._chanMgr.add(Object.assign(opened, { type: "session" }));
      if (id === -1) reject(new Error("the SSH connection has no free channel"));
      else layer._protocol.session(id, WINDOW, PACKET);
    });
    return new Session(layer, await Promise.race([opening, closed]), closed);
  }

  /** Sets a variable; false when the server refuses it. */
  setEnvironment(name: string, value: string): Promise<boolean> {
    return this.ask(() => this.layer._protocol.env(this.channel.outgoing.id, name, value, true));
  }

  /** Starts the command. @throws Error when the server refuses */
  async start(command: string): Promise<ClientChannel> {
    const started = await this.ask(() => {
      this.layer._protocol.exec(this.channel.outgoing.id, command, true);
    });
    if (!started) throw new Error("the SSH server refused to run a command");
    return this.channel;
  }

  private ask(request: () => void): Promise<boolean> {
    const answer = new Promise<boolean>((resolve) => {
      this.channel._callbacks.push((refused) => resolve(refused === false));
    });
    request();
    return Promise.race([answer, this.closed]);
  }
}
