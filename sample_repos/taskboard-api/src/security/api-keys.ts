import { NotFoundError } from '../errors.js';
import { Database } from '../storage/database.js';
import { Repository } from '../storage/repository.js';
import type { Entity, Id } from '../types.js';
import { randomToken, sha256Hex } from './crypto-utils.js';

export interface ApiKey extends Entity {
  boardId: Id;
  label: string;
  /** Only the digest is kept; the key itself is shown once, when it is issued. */
  digest: string;
}

const KEY_PREFIX = 'tbk_';

class ApiKeyRepository extends Repository<ApiKey> {
  protected readonly kind = 'API key';

  constructor(db: Database) {
    super(db, 'api_keys');
  }

  findByDigest(digest: string): ApiKey | undefined {
    return this.table.select({ where: { digest }, limit: 1 })[0];
  }

  forBoard(boardId: Id): ApiKey[] {
    return this.table.select({ where: { boardId }, orderBy: 'createdAt' });
  }
}

/**
 * Keys that open the read-only feed of one board to an integration. They do
 * not replace user authentication: a key speaks for a board, not for a person.
 */
export class ApiKeyService {
  private readonly keys: ApiKeyRepository;

  constructor(db: Database) {
    this.keys = new ApiKeyRepository(db);
  }

  issue(boardId: Id, label: string): { id: Id; key: string } {
    const key = KEY_PREFIX + randomToken();
    const { id } = this.keys.create({ boardId, label, digest: sha256Hex(key) });
    return { id, key };
  }

  opensBoard(key: string, boardId: Id): boolean {
    if (!key.startsWith(KEY_PREFIX)) return false;
    return this.keys.findByDigest(sha256Hex(key))?.boardId === boardId;
  }

  list(boardId: Id): Array<Omit<ApiKey, 'digest'>> {
    return this.keys.forBoard(boardId).map(({ digest: _, ...visible }) => visible);
  }

  revoke(boardId: Id, keyId: Id): void {
    const key = this.keys.require(keyId);
    if (key.boardId !== boardId) throw new NotFoundError('API key', keyId);
    this.keys.delete(keyId);
  }
}
