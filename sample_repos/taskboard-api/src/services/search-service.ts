import EventBus from '../events/event-bus.js';
import { TaskRepository } from '../storage/task-repository.js';
import type { DomainEvent, Id, Task, User } from '../types.js';
import { BoardService } from './board-service.js';

export interface SearchHit {
  task: Task;
  score: number;
}

const TITLE_WEIGHT = 3;
const DESCRIPTION_WEIGHT = 1;

/** Full-text search over tasks, with an inverted index that follows the event bus. */
export class SearchService {
  /** term -> task id -> weight of the term in that task */
  private readonly index = new Map<string, Map<Id, number>>();

  constructor(
    private readonly boards: BoardService,
    private readonly tasks: TaskRepository,
  ) {
    for (const task of tasks.all()) this.add(task);
  }

  attach(bus: EventBus): void {
    bus.subscribe(['task.created', 'task.updated', 'task.deleted'], (event) => this.follow(event));
  }

  /** Tasks with all terms of the query, on boards this user can see, best first. */
  search(user: User, query: string, limit = 20): SearchHit[] {
    const terms = termsOf(query);
    if (terms.length === 0) return [];
    const visible = new Set(this.boards.boardsOf(user).map((board) => board.id));
    const hits: SearchHit[] = [];
    for (const [taskId, score] of this.scoreAll(terms)) {
      const task = this.tasks.find(taskId);
      if (task && visible.has(task.boardId)) hits.push({ task, score });
    }
    return hits.sort((a, b) => b.score - a.score || b.task.updatedAt - a.task.updatedAt).slice(0, limit);
  }

  private scoreAll(terms: string[]): Map<Id, number> {
    const [first = new Map<Id, number>(), ...others] = terms.map((term) => this.index.get(term));
    const scores = new Map<Id, number>();
    for (const [taskId, weight] of first) {
      const weights = others.map((postings) => postings?.get(taskId) ?? 0);
      if (weights.includes(0)) continue;
      scores.set(taskId, weights.reduce((sum, value) => sum + value, weight));
    }
    return scores;
  }

  private follow(event: DomainEvent): void {
    this.remove(event.task.id);
    if (event.name !== 'task.deleted') this.add(event.task);
  }

  private add(task: Task): void {
    this.addTerms(task.id, termsOf(task.title), TITLE_WEIGHT);
    this.addTerms(task.id, termsOf(task.description), DESCRIPTION_WEIGHT);
  }

  private addTerms(taskId: Id, terms: string[], weight: number): void {
    for (const term of terms) {
      const postings = this.index.get(term) ?? new Map<Id, number>();
      postings.set(taskId, (postings.get(taskId) ?? 0) + weight);
      this.index.set(term, postings);
    }
  }

  private remove(taskId: Id): void {
    for (const [term, postings] of this.index) {
      if (postings.delete(taskId) && postings.size === 0) this.index.delete(term);
    }
  }
}

function termsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
