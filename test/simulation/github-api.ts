import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type Answer, JsonApi } from "./json-api";

/** A comment under a pull request. */
export interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string };
  readonly html_url: string;
}

/** An issue, or a pull request as GitHub lists it among them. */
export interface Issue {
  readonly number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  readonly user: { readonly login: string };
  readonly pull_request?: object;
  readonly html_url: string;
}

/** An artifact of a run. */
interface Artifact {
  readonly name: string;
  readonly expired: boolean;
}

/** A run of a workflow, as GitHub lists it. */
interface Run {
  readonly id: number;
  readonly run_number: number;
  readonly path: string;
  readonly event: string;
  readonly head_sha: string;
  readonly conclusion: string | null;
  readonly head_repository: { readonly id: number } | null;
  readonly repository: { readonly id: number };
  readonly artifacts: Artifact[];
}

/** A pull request. */
interface PullRequest {
  readonly number: number;
  readonly merged_at: string | null;
  readonly merge_commit_sha: string | null;
  readonly base: { readonly ref: string };
  readonly head: { readonly sha: string };
  readonly files: readonly { readonly filename: string; readonly previous_filename?: string }[];
}

const REPOSITORY_ID = 11;
const TOKEN = "token-of-the-workflow";
/** GitHub refuses a longer comment with 422. */
const COMMENT_LIMIT = 65_536;

/** GitHub's REST API, as far as the example workflow's scripts call it. */
export class GithubApi extends JsonApi {
  readonly comments: Comment[] = [];
  readonly issues: Issue[] = [];
  readonly runs: Run[] = [];
  readonly pulls: PullRequest[] = [];
  /** Every call, "METHOD /path". */
  readonly calls: string[] = [];

  constructor(readonly repository: string) {
    super();
  }

  /** What a runner sets for its steps. */
  get environment(): Record<string, string> {
    return {
      GITHUB_API_URL: this.address,
      GITHUB_REPOSITORY: this.repository,
      GITHUB_TOKEN: TOKEN,
    };
  }

  /** Adds a comment by hand. */
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

  /** Opens an issue. */
  issue(login: string, title: string, body: string, more: Partial<Issue> = {}): Issue {
    const number = this.issues.length + 1;
    const html_url = `https://github.com/${this.repository}/issues/${number}`;
    const made: Issue = { number, title, body, state: "open", user: { login }, html_url, ...more };
    this.issues.push(made);
    return made;
  }

  /** Adds a run of the preview workflow with one artifact. @returns its id */
  addRun(headSha: string, artifact: string, over: Partial<Run> = {}): number {
    const id = this.runs.length + 1;
    const own = { id: REPOSITORY_ID };
    this.runs.push({
      ...{
        id,
        run_number: id,
        path: ".github/workflows/foresail-preview.yaml",
        event: "pull_request_target",
      },
      ...{ head_sha: headSha, conclusion: "success", head_repository: own, repository: own },
      artifacts: [{ name: artifact, expired: false }],
      ...over,
    });
    return id;
  }

  protected async answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    this.calls.push(`${request.method} ${pathname}`);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, { message: "Bad credentials" }];
    const path = pathname.replace(`/repos/${this.repository}`, "");
    const page = <T>(entries: T[]): T[] => {
      const [size, number] = [Number(searchParams.get("per_page")), Number(searchParams.get("page"))];
      return entries.slice(size * (number - 1), size * number);
    };
    switch (`${request.method} ${path.replace(/\/[0-9a-f]{40}\//, "/SHA/").replace(/\/\d+/g, "/N")}`) {
      case "GET /issues/N/comments":
        return [200, page(this.comments)];
      case "POST /issues/N/comments": {
        const { body } = await bodyOf(request);
        if (body.length > COMMENT_LIMIT) return [422, { message: "body is too long" }];
        return [201, this.comment("github-actions[bot]", body)];
      }
      case "PATCH /issues/comments/N": {
        const { body } = await bodyOf(request);
        const comment = this.comments.find(({ id }) => id === Number(path.split("/").at(-1)));
        if (comment === undefined) return [404, { message: "Not Found" }];
        if (body.length > COMMENT_LIMIT) return [422, { message: "body is too long" }];
        comment.body = body;
        return [200, comment];
      }
      case "GET /issues": {
        const [state, creator] = [searchParams.get("state"), searchParams.get("creator")];
        return [200, page(this.issues.filter((one) => one.state === state && one.user.login === creator))];
      }
      case "POST /issues": {
        const { title, body } = await bodyOf(request);
        return [201, this.issue("github-actions[bot]", title, body)];
      }
      case "PATCH /issues/N":
        return [200, Object.assign(this.issues[numberIn(path) - 1]!, await bodyOf(request))];
      case "GET /commits/SHA/pulls": {
        const sha = path.split("/")[2];
        return [
          200,
          page(this.pulls.filter((pull) => pull.merge_commit_sha === sha || pull.head.sha === sha)),
        ];
      }
      case "GET /pulls/N/files":
        return [200, page([...(this.pulls.find(({ number }) => number === numberIn(path))?.files ?? [])])];
      case "GET /actions/workflows/foresail-preview.yaml/runs": {
        // GitHub finds a workflow by its file's name; every branch can have one
        const found = this.runs.filter(({ head_sha }) => head_sha === searchParams.get("head_sha"));
        return [200, { total_count: found.length, workflow_runs: page(found) }];
      }
      case "GET /actions/artifacts": {
        const found = this.runs.flatMap(({ id, artifacts }) =>
          artifacts
            .filter(({ name }) => name === searchParams.get("name"))
            .map((one) => ({ ...one, workflow_run: { id } })),
        );
        return [200, { total_count: found.length, artifacts: page(found) }];
      }
      case "GET /actions/runs/N":
        return [200, this.runs.find(({ id }) => id === numberIn(path))];
      case "GET /actions/runs/N/artifacts": {
        const { artifacts } = this.runs.find(({ id }) => id === numberIn(path))!;
        return [200, { total_count: artifacts.length, artifacts: page(artifacts) }];
      }
      default:
        return [404, { message: "Not Found" }];
    }
  }
}

const numberIn = (path: string): number => Number(/\d+/.exec(path)?.[0]);

async function bodyOf(request: IncomingMessage): Promise<{ title: string; body: string }> {
  return JSON.parse(await text(request)) as { title: string; body: string };
}
