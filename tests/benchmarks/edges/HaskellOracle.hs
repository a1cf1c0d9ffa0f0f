-- Calls of Haskell as GHC resolves them: `runghc -package ghc HaskellOracle.hs HIE_FOLDER > oracle.jsonl`.
--
-- HIE_FOLDER is what `ghc -fwrite-ide-info -hiedir HIE_FOLDER -fno-code` writes for a repository, run at its root. Kept
-- are heads of applications and functions in backquotes: what both sides name a call. `language_oracle.py` judges by it.
module Main (main) where

import Control.Monad (forM, forM_, when)
import Data.IORef (atomicModifyIORef', newIORef)
import Data.List (isSuffixOf)
import qualified Data.Map as M
import qualified Data.Set as S
import GHC.Data.FastString (unpackFS)
import GHC.Iface.Ext.Binary (NameCacheUpdater (..), hie_file_result, readHieFile)
import GHC.Iface.Ext.Types
import GHC.Types.Name
import GHC.Types.Name.Cache (initNameCache)
import GHC.Types.SrcLoc
import GHC.Types.Unique.Supply (mkSplitUniqSupply)
import GHC.Unit.Module (moduleName, moduleNameString)
import System.Directory (doesDirectoryExist, listDirectory)
import System.Environment (getArgs)

files :: FilePath -> IO [FilePath]
files folder = do
  names <- listDirectory folder
  concat <$> forM names (\name -> do
    let path = folder ++ "/" ++ name
    is <- doesDirectoryExist path
    if is then files path else pure [path | ".hie" `isSuffixOf` name])

main :: IO ()
main = do
  [folder] <- getArgs
  supply <- mkSplitUniqSupply 'z'
  cache <- newIORef (initNameCache supply [])
  let update = NCU (atomicModifyIORef' cache)
  paths <- files folder
  read_ <- forM paths (\path -> hie_file_result <$> readHieFile update path)
  let sources = M.fromList [(moduleNameString (moduleName (hie_module f)), hie_hs_file f) | f <- read_]
  forM_ read_ (\f -> forM_ (M.elems (getAsts (hie_asts f))) (walk sources (hie_hs_file f) False))

-- | Print the identifier of each leaf that is in the place of a call.
walk :: M.Map String FilePath -> FilePath -> Bool -> HieAST a -> IO ()
walk sources path isCalled ast = do
  let infos = M.elems (getSourcedNodeInfo (sourcedNodeInfo ast))
      kinds = concatMap (map (unpackFS . fst) . S.toList . nodeAnnotations) infos
      children = nodeChildren ast
  when (isCalled && null children) $
    forM_ (concatMap (M.toList . nodeIdentifiers) infos) $ \(found, details) -> case found of
      Right name | isVarOcc (nameOccName name), Use `S.member` identInfo details -> tell sources path (nodeSpan ast) name
      _ -> pure ()
  forM_ (zip [0 :: Int ..] children) $ \(at, child) ->
    walk sources path (("HsApp" `elem` kinds && at == 0) || ("OpApp" `elem` kinds && at == 1)) child

tell :: M.Map String FilePath -> FilePath -> RealSrcSpan -> Name -> IO ()
tell sources path at name = do
  let source = case nameModule_maybe name of
        Just of_ -> M.lookup (moduleNameString (moduleName of_)) sources
        Nothing -> Just path
      text = occNameString (nameOccName name)
      target = case (source, nameSrcSpan name) of
        (Just file, RealSrcSpan there _) -> "[" ++ show file ++ "," ++ show (srcSpanStartLine there) ++ "]"
        _ -> ""
      isLocal = nameModule_maybe name == Nothing
  when (head text `notElem` "!#$%&*+./<=>?@\\^|-~:") $
    putStrLn ("{\"path\":" ++ show path ++ ",\"line\":" ++ show (srcSpanStartLine at) ++ ",\"name\":" ++ show text
      ++ ",\"local\":" ++ (if isLocal then "true" else "false") ++ ",\"targets\":[" ++ target ++ "]}")
