import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A comment under a pull request. */
export interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string };
  readonly html_url: string;
}

/** An artifact of a run, as GitHub lists it. */
interface Artifact {
  readonly name: string;
  readonly expired: boolean;
  readonly created_at: string;
  readonly workflow_run: {
    readonly id: number;
    readonly repository_id: number;
    readonly head_repository_id: number;
  } | null;
}

const TOKEN = "token-of-the-workflow";
/** GitHub refuses a longer comment with 422. */
const COMMENT_LIMIT = 65_536;

/** GitHub's REST API, as far as the example workflow's scripts call it. */
export class GithubApi {
  readonly comments: Comment[] = [];
  readonly artifacts: Artifact[] = [];
  /** Every call, "METHOD /path". */
  readonly calls: string[] = [];
  private readonly server: Server;

  constructor(readonly repository: string) {
    this.server = createServer((request, response) => {
      void this.answer(request).then(([status, body]) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
    });
  }

  async start(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** What a runner sets for its steps. */
  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      GITHUB_API_URL: `http://127.0.0.1:${port}`,
      GITHUB_REPOSITORY: this.repository,
      GITHUB_TOKEN: TOKEN,
    };
  }

  /** Somebody comments by hand. */
  comment(login: string, body: string): Comment {
    const id = this.comments.length + 1;
    const made = {
      id,
      body,
      user: { login },
      html_url: `https://github.com/${this.repository}/pull/1#${id}`,
    };
    this.comments.push(made);
    return made;
  }

  private async answer(request: IncomingMessage): Promise<[number, unknown]> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    this.calls.push(`${request.method} ${pathname}`);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, { message: "Bad credentials" }];
    const path = pathname.replace(`/repos/${this.repository}`, "");
    const page = <T>(entries: T[]): T[] => {
      const [size, number] = [Number(searchParams.get("per_page")), Number(searchParams.get("page"))];
      return entries.slice(size * (number - 1), size * number);
    };
    switch (`${request.method} ${path.replace(/\d+/g, "N")}`) {
      case "GET /issues/N/comments":
        return [200, page(this.comments)];
      case "POST /issues/N/comments": {
        const body = await bodyOf(request);
        if (body.length > COMMENT_LIMIT) return [422, { message: "body is too long" }];
        return [201, this.comment("github-actions[bot]", body)];
      }
      case "PATCH /issues/comments/N": {
        const body = await bodyOf(request);
        const comment = this.comments.find(({ id }) => id === Number(path.split("/").at(-1)));
        if (comment === undefined) return [404, { message: "Not Found" }];
        if (body.length > COMMENT_LIMIT) return [422, { message: "body is too long" }];
        comment.body = body;
        return [200, comment];
      }
      case "GET /actions/artifacts": {
        const named = this.artifacts.filter(({ name }) => name === searchParams.get("name"));
        return [200, { total_count: named.length, artifacts: page(named) }];
      }
      default:
        return [404, { message: "Not Found" }];
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return (JSON.parse(await text(request)) as { body: string }).body;
}
